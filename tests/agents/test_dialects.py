"""Events as agents wrote them, and the words they get: tables, one row per captured event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.agents import claude, codex, copilot, gemini, qwen
from fwdperm.agents.event import BadEvent
from fwdperm.agents.lineage import position_of
from fwdperm.agents.summary import shortened, size_of
from fwdperm.agents.tool_calls import accesses
from fwdperm.settings import VALUE_CHARS

CLAUDE = {
    "session_id": "02d57ab4-98d3",
    "transcript_path": "/home/u/.claude/projects/-w/02d57ab4-98d3.jsonl",
    "cwd": "/w",
    "prompt_id": "e19ea31f",
    "permission_mode": "default",
    "effort": {"level": "medium"},
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "touch a.txt", "description": "make a file"},
    "permission_suggestions": [],
}
COPILOT = {
    "hookName": "permissionRequest",
    "sessionId": "7daee7b1",
    "timestamp": 1796050311887,
    "cwd": "/w",
    "toolName": "bash",
    "toolInput": {"command": "touch a.txt"},
    "permissionSuggestions": [],
}


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        ("Bash", {"command": "ls"}, [("bash", "ls")]),
        ("exec_command", {"cmd": "ls -l"}, [("bash", "ls -l")]),
        ("shell", {"command": ["touch", "a b"]}, [("bash", "touch 'a b'")]),
        ("run_shell_command", {"command": "ls"}, [("bash", "ls")]),
        ("Read", {"file_path": "/etc/hosts"}, [("read", "/etc/hosts")]),
        ("read_file", {"absolute_path": "/x"}, [("read", "/x")]),
        ("view", {"path": "/x"}, [("read", "/x")]),
        ("Write", {"file_path": "/w/a", "content": "x\n"}, [("write", "/w/a")]),
        ("create", {"path": "/w/a", "file_text": "x"}, [("write", "/w/a")]),
        ("Edit", {"file_path": "/w/a", "old_string": "a", "new_string": "b"}, [("edit", "/w/a")]),
        ("MultiEdit", {"file_path": "/w/a", "edits": []}, [("edit", "/w/a")]),
        ("NotebookEdit", {"notebook_path": "/w/a.ipynb", "new_source": "x"}, [("edit", "/w/a.ipynb")]),
        ("Glob", {"pattern": "*.py"}, [("glob", "*.py")]),
        ("Glob", {"pattern": "*.py", "path": "/etc"}, [("glob", "/etc/*.py")]),
        ("Grep", {"pattern": "key", "path": "/etc"}, [("grep", "/etc")]),
        ("Grep", {"pattern": "key"}, [("grep", ".")]),
        ("LS", {"path": "/etc"}, [("ls", "/etc")]),
        ("WebFetch", {"url": "https://e.org/x", "prompt": "p"}, [("web", "https://e.org/x")]),
        ("WebSearch", {"query": "how to"}, [("web", "search: how to")]),
        ("Task", {"subagent_type": "reviewer", "prompt": "p"}, [("agent", "reviewer")]),
        ("Agent", {"description": "d", "prompt": "p"}, [("agent", "general-purpose")]),
        ("spawn_agent", {"agent_type": "default", "message": "m"}, [("agent", "default")]),
        ("Skill", {"skill": "deploy", "args": "now"}, [("skill", "deploy")]),
        ("mcp__github__create_issue", {"t": 1, "a": "x"}, [("mcp", 'github__create_issue {"a":"x","t":1}')]),
        ("mcp__github__list", {}, [("mcp", "github__list")]),
        ("TodoWrite", {"todos": []}, [("TodoWrite", '{"todos":[]}')]),
        ("ExitPlanMode", {}, [("ExitPlanMode", "{}")]),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n*** Move to: c.py\n-y\n"
                      "*** Delete File: d.py\n*** End Patch"},
            [("edit", "a.py"), ("edit", "b.py"), ("edit", "c.py"), ("edit", "d.py")],
        ),
        ("apply_patch", {"command": ["apply_patch", "*** Add File: a\n+x"]}, [("edit", "a")]),
    ],
)  # fmt: skip
def test_a_tool_call_is_what_it_accesses(
    tool: str, tool_input: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert [(one.surface, one.values[0]) for one in accesses(tool, tool_input)] == expected


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("", {}),
        ("x" * 300, {}),
        ("Bash", {}),
        ("Bash", {"command": 7}),
        ("Bash", {"script_text": "rm -rf /"}),
        ("Read", {"target": "/etc/shadow"}),
        ("Write", {"content": "x"}),
        ("WebFetch", {"link": "https://e.org"}),
        ("WebSearch", {}),
        ("Skill", {}),
        ("apply_patch", {"input": "no patch"}),
        ("apply_patch", {"input": "\n".join(f"*** Add File: f{n}" for n in range(65))}),
    ],
)
def test_a_known_tool_that_does_not_say_what_it_accesses_is_refused(tool: str, tool_input: dict[str, Any]) -> None:
    """A newer agent may have renamed the field that a recorded deny looks at."""
    with pytest.raises(BadEvent):
        accesses(tool, tool_input)


def test_a_write_shows_its_size_its_digest_and_its_first_lines_only() -> None:
    content = "".join(f"line {n}\n" for n in range(100_000))
    (access,) = accesses("Write", {"file_path": "/w/big.txt", "content": content})
    assert "100000 lines" in access.message
    assert "sha256 " in access.message
    assert "line 2" in access.message
    assert "line 3" not in access.message
    assert len(access.message) < 1_000


def test_an_edit_shows_how_many_lines_go_and_come() -> None:
    (access,) = accesses("Edit", {"file_path": "/w/a", "old_string": "a\nb", "new_string": "c"})
    assert "-2 +1 lines" in access.message


def test_an_input_too_long_to_match_goes_to_a_person() -> None:
    (access,) = accesses("mcp__db__query", {"sql": "x" * 20_000})
    assert access.floor
    assert len(access.values[0]) < VALUE_CHARS
    assert access.values[0].startswith("db__query ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=600),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=9), inner, max_size=40),
    max_leaves=60,
)


FIELDS = st.sampled_from(["command", "file_path", "content", "edits", "pattern", "path", "input", "old_string"])
TOOLS = st.sampled_from(["Bash", "Write", "Edit", "mcp__a__b", "Glob", "apply_patch", "Task", "Other"])


@given(TOOLS, st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_input_is_an_access_or_a_refusal(tool: str, tool_input: dict[str, Any]) -> None:
    try:
        found = accesses(tool, tool_input)
    except BadEvent:
        return
    assert found
    assert all(one.surface and one.values[0].strip() for one in found)


@given(JSON)
def test_a_shortened_value_is_short(value: Any) -> None:
    def size(one: Any) -> int:
        if isinstance(one, dict):
            return sum(len(name) + size(member) for name, member in one.items())
        return sum(map(size, one)) if isinstance(one, list) else len(str(one))

    assert size(shortened(value)) <= size(value) + 200 * 60


def test_sizes_count_lines_as_people_do() -> None:
    assert [size_of(text).split(",")[0] for text in ("", "a", "a\n", "a\nb")] == [
        "0 lines",
        "1 lines",
        "1 lines",
        "2 lines",
    ]


# -- events in, words out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "event", "raw", "session", "agent_id"),
    [
        (claude, "PermissionRequest", CLAUDE, "02d57ab4-98d3", ""),
        (claude, "PermissionRequest", CLAUDE | {"agent_id": "aaa", "agent_type": "t"}, "02d57ab4-98d3", "aaa"),
        (claude, "PostToolUse", CLAUDE | {"hook_event_name": "PostToolUse", "tool_response": {}}, "02d57ab4-98d3", ""),
        (codex, "PermissionRequest", CLAUDE | {"turn_id": "t"}, "02d57ab4-98d3", ""),
        (copilot, "permissionRequest", COPILOT, "7daee7b1", ""),
        (copilot, "permissionRequest", COPILOT | {"agentId": "f0", "parentAgentId": "7daee7b1"}, "7daee7b1", "f0"),
        (copilot, "postToolUse", {"sessionId": "f0", "toolName": "bash", "toolArgs": '{"command": "ls"}',
                                  "agentId": "f0", "parentAgentId": "7daee7b1"}, "7daee7b1", "f0"),
        (gemini, "BeforeTool", CLAUDE | {"hook_event_name": "BeforeTool"}, "02d57ab4-98d3", ""),
        (qwen, "PreToolUse", CLAUDE | {"hook_event_name": "PreToolUse"}, "02d57ab4-98d3", ""),
    ],
)  # fmt: skip
def test_an_event_says_who_asks(dialect: Any, event: str, raw: dict[str, Any], session: str, agent_id: str) -> None:
    found = dialect.read(event, raw)
    assert (found.session, found.agent_id) == (session, agent_id)


@pytest.mark.parametrize(
    ("dialect", "event", "raw"),
    [
        *((claude, "PermissionRequest", {**CLAUDE, name: None}) for name in ("session_id", "tool_name", "tool_input")),
        (claude, "PermissionRequest", CLAUDE | {"hook_event_name": "PostToolUse"}),
        (claude, "PermissionRequest", {}),
        *((copilot, "permissionRequest", {**COPILOT, name: None}) for name in ("sessionId", "toolName", "toolInput")),
        (copilot, "permissionRequest", COPILOT | {"toolInput": "no json"}),
    ],
)
def test_an_event_that_lacks_what_every_version_had_is_refused(dialect: Any, event: str, raw: dict[str, Any]) -> None:
    with pytest.raises(BadEvent):
        dialect.read(event, raw)


def test_a_call_is_the_same_when_it_asks_and_once_it_ran() -> None:
    """Agents name no call id when they ask, and some tell more, or another tool, afterwards."""
    later = {"hook_event_name": "PostToolUse", "tool_use_id": "t1"}
    assert claude.read("PermissionRequest", CLAUDE).call == claude.read("PostToolUse", CLAUDE | later).call
    asked = CLAUDE | {"tool_input": {"command": "touch a.txt", "description": "justified"}}
    ran = CLAUDE | later | {"tool_input": {"command": "touch a.txt"}}
    assert codex.read("PermissionRequest", asked).call == codex.read("PostToolUse", ran).call
    made = COPILOT | {"toolName": "edit", "toolInput": {"file_path": "/w/a", "diff": "+x"}}
    done = {"sessionId": "7daee7b1", "toolName": "create", "toolArgs": {"path": "/w/a", "file_text": "x"}}
    assert copilot.read("permissionRequest", made).call == copilot.read("postToolUse", done).call
    other = CLAUDE | {"tool_input": {"command": "touch b.txt"}}
    assert claude.read("PermissionRequest", CLAUDE).call != claude.read("PermissionRequest", other).call


@pytest.mark.parametrize(
    ("dialect", "event", "yes", "no"),
    [
        (
            claude,
            "PermissionRequest",
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
            {"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                                    "decision": {"behavior": "deny", "message": "why"}}},
        ),
        (
            claude,
            "PreToolUse",
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                    "additionalContext": "a note"}},
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                    "permissionDecisionReason": "why"}},
        ),
        (copilot, "permissionRequest", {"behavior": "allow"}, {"behavior": "deny", "message": "why"}),
        (
            copilot,
            "preToolUse",
            {"permissionDecision": "allow"},
            {"permissionDecision": "deny", "permissionDecisionReason": "why"},
        ),
        (gemini, "BeforeTool", {"decision": "allow"}, {"decision": "deny", "reason": "why"}),
    ],
)  # fmt: skip
def test_the_words_have_the_agents_own_shape(dialect: Any, event: str, yes: Any, no: Any) -> None:
    assert dialect.allowed(event, note="a note") == yes
    assert dialect.denied(event, "why") == no


@pytest.mark.parametrize("dialect", [claude, codex, copilot, gemini, qwen])
def test_no_word_for_an_event_nobody_knows_could_be_read_as_an_approval(dialect: Any) -> None:
    assert "allow" not in str(dialect.denied("Event2030", "why"))


# -- where it stands --------------------------------------------------------------------------------------------


def test_a_root_agent_without_a_launcher_asks_the_root_inbox() -> None:
    place = position_of(claude.read("PermissionRequest", CLAUDE), {}, name="claude")
    assert (place.session, place.inbox, place.agent) == ("02d57ab4-98d3", "root", "claude")
    assert not place.is_launched


def test_a_launched_root_agent_is_the_launched_session() -> None:
    env = {"FWDPERM_SESSION": "build", "FWDPERM_PARENT": "ci", "FWDPERM_AGENT": "builder", "FWDPERM_TOKEN": "t"}
    place = position_of(claude.read("PermissionRequest", CLAUDE), env, name="claude")
    assert (place.session, place.inbox, place.agent, place.is_launched) == ("build", "ci", "builder", True)


def test_a_copilot_subagent_of_a_subagent_asks_in_the_middle_ones_inbox() -> None:
    raw = COPILOT | {"agentId": "c2", "agentType": "t", "parentAgentId": "c1"}
    place = position_of(copilot.read("permissionRequest", raw), {}, name="copilot")
    assert (place.session, place.inbox) == ("7daee7b1/c2", "7daee7b1/c1")
    assert [one for one, _ in place.ancestors] == ["7daee7b1/c1", "7daee7b1", "root"]


def test_programs_in_programs_are_followed_up_to_the_launched_one() -> None:
    """Each process was told the session and the process whose shell tool started it."""
    started = {
        "30": {"CLAUDE_CODE_SESSION_ID": "s2", "CLAUDE_PID": "20", "FWDPERM_SESSION": "build"},
        "20": {"CLAUDE_CODE_SESSION_ID": "s1", "CLAUDE_PID": "10", "FWDPERM_SESSION": "build"},
        "10": {"FWDPERM_SESSION": "build"},
    }
    env = {"CLAUDE_PID": "30", "FWDPERM_SESSION": "build", "FWDPERM_PARENT": "ci", "FWDPERM_TOKEN": "t"}
    place = position_of(
        claude.read("PermissionRequest", CLAUDE), env, name="claude", started_with=lambda pid: started.get(pid, {})
    )
    assert (place.session, place.inbox, place.is_launched) == ("02d57ab4-98d3", "s2", False)
    assert [one for one, _ in place.ancestors] == ["s2", "build", "ci"]


def test_another_agent_started_by_claude_codes_shell_tool_is_its_child() -> None:
    """Only Claude Code's own hooks see variables of its own program; another agent's see those around it."""
    env = {"CLAUDE_PID": "10", "CLAUDE_CODE_SESSION_ID": "outer"}
    place = position_of(codex.read("PermissionRequest", CLAUDE), env, name="codex", started_with=lambda _: {})
    assert (place.session, place.inbox, place.agent) == ("02d57ab4-98d3", "outer", "codex")
    assert place.ancestors == (("outer", "claude"), ("root", ""))
    env = {"CLAUDE_PID": "10", "CLAUDE_CODE_SESSION_ID": CLAUDE["session_id"]}
    place = position_of(claude.read("PermissionRequest", CLAUDE), env, name="claude", started_with=lambda _: {})
    assert place.inbox == "root"


def test_a_program_that_was_launched_anew_inside_another_stands_for_itself() -> None:
    started = {
        "30": {"CLAUDE_CODE_SESSION_ID": "s1", "CLAUDE_PID": "10", "FWDPERM_SESSION": "inner"},
        "10": {"FWDPERM_SESSION": "outer"},
    }
    env = {"CLAUDE_PID": "30", "FWDPERM_SESSION": "inner", "FWDPERM_PARENT": "outer"}
    place = position_of(
        claude.read("PermissionRequest", CLAUDE), env, name="claude", started_with=lambda pid: started.get(pid, {})
    )
    assert (place.session, place.inbox, place.is_launched) == ("inner", "outer", True)


def test_agents_that_name_each_other_as_parents_end(tmp_path: Any) -> None:
    folder = tmp_path / "02d57ab4-98d3" / "subagents"
    folder.mkdir(parents=True)
    for one, other in (("a", "b"), ("b", "c"), ("c", "b")):
        (folder / f"agent-{one}.meta.json").write_text(f'{{"parentAgentId": "{other}", "agentType": "t-{one}"}}')
    raw = CLAUDE | {"agent_id": "a", "transcript_path": f"{tmp_path}/02d57ab4-98d3.jsonl"}
    place = position_of(claude.read("PermissionRequest", raw), {}, name="claude")
    assert [one.rpartition("/")[2] for one, _ in place.ancestors] == ["b", "c", "02d57ab4-98d3", "root"]
    assert place.ancestors[0][1] == "t-b"
