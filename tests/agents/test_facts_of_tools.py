"""Every field of a tool call that can carry a path, a glob, a directory, a command or an address is seen by the rules.

The calls go the whole way that is pure: the table of tools, the request as its asker states it, units, rules, guard,
the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fwdperm.agents import opencode
from fwdperm.agents.event import BadEvent
from fwdperm.agents.tool_calls import accesses
from fwdperm.client.question import Question, Requester
from fwdperm.decision.context import DecisionContext, NothingTaught
from fwdperm.decision.order import AskJudge, Decided, begin
from fwdperm.guard.surroundings import Surroundings
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.toml_file import read_layer
from fwdperm.wire.request_file import read_request

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fwdperm.agents.event import Access

ALL = """\
[rules.bash]
"*" = "allow"
[rules.read]
"*" = "allow"
[rules.edit]
"*" = "allow"
[rules.write]
"*" = "allow"
[rules.web]
"*" = "allow"
[rules.glob]
"*" = "allow"
[rules.ls]
"*" = "allow"
[rules.agent]
"*" = "allow"
[rules.skill]
"*" = "allow"
[rules.grep]
"*" = "allow"
"""
NO_ENV = '[rules.path_read]\n"*.env" = "deny"\n"~/.ssh/*" = "deny"\n"secrets/*" = "deny"\n'


def merged(rules: str) -> str:
    """Give everything allowed, and then these rules: a table stands once."""
    head, _, rest = rules.partition("\n")
    return ALL.replace(f'{head}\n"*" = "allow"\n', f'{head}\n"*" = "allow"\n{rest}') if head in ALL else ALL + rules


def verdicts(asked: Iterable[Access], rules: str, *, cwd: str, home: str = "/home/u") -> list[str]:
    """Give what becomes of each access before any judge or person: allow, deny, judge or person."""
    layer = read_layer(rules, file="rules.toml", kind=LayerKind.USER)
    assert not layer.problems
    context = DecisionContext(
        chain=(Ruleset.compose([layer], home=home),),
        surroundings=Surroundings(workspaces=(cwd,), home=home),
        taught=NothingTaught(),
        has_judge=True,
    )
    found = []
    for access in asked:
        asker = Requester(cwd=cwd, session="s", agent="a", env={"HOME": home})
        question = Question(
            access.surface, access.values, requester=asker, request_id="r1", created_ms=1, wait_s=60,
            message=access.message, floor=access.floor,
        )  # fmt: skip
        step = begin(read_request(question.content, stem="r1", inbox="root"), context)
        match step:
            case Decided():
                found.append("allow" if step.is_approved else "deny")
            case AskJudge():
                found.append("judge")
            case _:
                found.append("person")
    return found


def strictest(found: list[str]) -> str:
    return max(found, key=["allow", "judge", "person", "deny"].index)


def verdict(tool: str, tool_input: dict[str, Any], rules: str, work: Path) -> str:
    return strictest(verdicts(accesses(tool, tool_input, cwd=str(work)), rules, cwd=str(work)))


# -- globs ------------------------------------------------------------------------------------------------------

REACHING = [
    ".env", "*.env", "**/.env", ".env*", ".en?", "*.e*", "[.]env", "{.env,a.py}", "{a,.e}nv*", "*.py,.env",
    "*.py .env", "config/.env", "./.env", "src/../.env", "*", "**", "**/*", "!*.py,.env", "/.env", "\\.env",
]  # fmt: skip


@pytest.mark.parametrize("glob", REACHING)
@pytest.mark.parametrize("field", ["glob", "include", "include_pattern"])
def test_a_search_for_texts_in_secret_files_is_never_a_free_read(tmp_path: Path, field: str, glob: str) -> None:
    """A glob is tested by what it could match, whatever the agent calls it."""
    found = verdict("Grep", {"pattern": ".", "path": ".", field: glob, "output_mode": "content"}, "", tmp_path)
    assert found == "person"


@pytest.mark.parametrize("glob", REACHING)
def test_a_denied_path_is_not_read_through_a_search_that_is_allowed(tmp_path: Path, glob: str) -> None:
    """An allow of every search does not lift a deny of some paths."""
    found = verdict("Grep", {"pattern": ".", "glob": glob}, ALL + NO_ENV, tmp_path)
    assert found in {"person", "deny"}


@pytest.mark.parametrize("glob", [".env", "**/.env", "prod.env", "src/*.env", "config/**/*.env"])
def test_a_glob_of_denied_files_alone_is_denied(tmp_path: Path, glob: str) -> None:
    for tool in ("Grep", "grep_search", "rg"):
        assert verdict(tool, {"pattern": ".", "glob": glob}, ALL + NO_ENV, tmp_path) == "deny"
    assert verdict("Glob", {"pattern": glob}, ALL + NO_ENV, tmp_path) == "deny"


@pytest.mark.parametrize(
    "rules",
    [
        '[rules.read]\n"notes/*" = "deny"\n',
        '[rules.path]\n"notes/*" = "deny"\n',
        '[rules.grep]\n"notes/*" = "deny"\n',
        '[rules."*"]\n"notes/*" = "deny"\n',
    ],
)
def test_a_search_that_a_deny_covers_in_part_is_for_a_person_alone(tmp_path: Path, rules: str) -> None:
    """Neither an allow of searches nor a judge lets it through, and a deny does not forbid what it does not name."""
    assert verdict("Grep", {"pattern": "x", "glob": "**/*.py"}, merged(rules), tmp_path) == "person"
    assert verdict("Grep", {"pattern": "x", "glob": "notes/*.py"}, merged(rules), tmp_path) == "deny"
    assert verdict("Grep", {"pattern": "x", "glob": "src/*.py"}, merged(rules), tmp_path) == "allow"


def test_an_ask_that_a_search_may_touch_is_asked(tmp_path: Path) -> None:
    rules = ALL + '[rules.path_read]\n"docs/*" = "ask"\n'
    assert verdict("Grep", {"pattern": "x", "glob": "d*/*.md"}, rules, tmp_path) in {"person", "judge"}
    assert verdict("Grep", {"pattern": "x", "glob": "src/*.md"}, rules, tmp_path) == "allow"


def test_a_later_allow_that_covers_the_whole_search_goes_before(tmp_path: Path) -> None:
    rules = ALL + '[rules.path_read]\n"*" = "deny"\n"src/*" = "allow"\n'
    assert verdict("Grep", {"pattern": "x", "path": "src", "glob": "*.md"}, rules, tmp_path) == "deny"  # `src` itself
    rules = ALL + '[rules.path_read]\n"*" = "deny"\n"src*" = "allow"\n'
    assert verdict("Grep", {"pattern": "x", "path": "src", "glob": "*.md"}, rules, tmp_path) == "allow"
    assert verdict("Grep", {"pattern": "x", "path": "src", "glob": "../*.md"}, rules, tmp_path) == "deny"


def test_one_character_in_an_allow_is_not_any_number_of_them(tmp_path: Path) -> None:
    rules = '[rules.grep]\n"/data" = "allow"\n"/data/?" = "allow"\n"/data/**/?" = "allow"\n'
    assert verdict("Grep", {"pattern": "x", "path": "/data", "glob": "*"}, rules, tmp_path) == "person"


@pytest.mark.parametrize(
    "tool_input",
    [
        {"pattern": "def main"},
        {"pattern": "def main", "path": "src"},
        {"pattern": "x", "glob": "*.py"},
        {"pattern": "x", "glob": "**/*.{ts,tsx}", "-n": True, "-A": 3, "head_limit": 20},
        {"pattern": "x", "include": "src/**/*.go"},
        {"pattern": "x", "glob": "!*.min.js"},
        {"pattern": "x", "glob": "*.yaml"},
        {"pattern": "x", "type": "py", "output_mode": "files_with_matches"},
    ],
)
def test_the_searches_of_every_day_stay_free(tmp_path: Path, tool_input: dict[str, Any]) -> None:
    assert verdict("Grep", tool_input, NO_ENV.replace('"secrets/*" = "deny"\n', ""), tmp_path) == "allow"


@pytest.mark.parametrize(
    "tool_input",
    [
        {"pattern": "/etc/**"},
        {"pattern": "../../.ssh/*"},
        {"pattern": "~/.ssh/*"},
        {"pattern": "**/id_rsa", "path": "src"},
        {"pattern": "{/etc,src}/*"},
        {"pattern": "src/*", "path": "/etc"},
        {"pattern": "a/**/../../../x"},
        {"pattern": "*.py", "include": ".env"},
    ],
)
@pytest.mark.parametrize("tool", ["Glob", "find"])
def test_names_are_not_listed_freely_where_nobody_may_look(
    tmp_path: Path, tool: str, tool_input: dict[str, Any]
) -> None:
    assert verdict(tool, tool_input, "", tmp_path) == "person"


@pytest.mark.parametrize("pattern", ["**/*.py", "*.md", "src/**/*.ts", "**/*", "*"])
def test_names_of_the_workspace_are_listed_freely(tmp_path: Path, pattern: str) -> None:
    assert verdict("Glob", {"pattern": pattern}, '[rules.path_read]\n"*.env" = "deny"\n', tmp_path) == "allow"


def test_a_search_of_one_file_is_a_read_of_it(tmp_path: Path) -> None:
    """What a read of the file would ask about, a search of it does too."""
    for path in ("config/credentials.json", "data/prod.json", "app/kubeconfig", "deploy/db_password"):
        assert verdict("Grep", {"pattern": ".", "path": path}, "", tmp_path) != "allow"
    assert verdict("Grep", {"pattern": ".", "path": "src/secrets_test.py"}, "", tmp_path) == "allow"


@pytest.mark.parametrize("glob", ["@(.env|x)", "+(.e)nv", "(a|.env)", "\\.\\e\\n\\v"])
def test_a_glob_in_words_that_are_not_known_goes_to_a_person(tmp_path: Path, glob: str) -> None:
    assert verdict("Grep", {"pattern": ".", "glob": glob}, ALL, tmp_path) == "person"


def test_a_glob_of_very_many_names_is_refused() -> None:
    with pytest.raises(BadEvent):
        accesses("Grep", {"pattern": ".", "glob": "{a,b,c,d,e,f,g,h}" * 4})


def test_a_configured_marker_is_met_by_a_glob(tmp_path: Path) -> None:
    cwd = str(tmp_path)
    layer = Ruleset.compose([], home="/home/u")
    around = Surroundings(workspaces=(cwd,), home="/home/u", sensitive_read=("vault/*.md",))
    context = DecisionContext(chain=(layer,), surroundings=around, taught=NothingTaught(), has_judge=True)
    for glob, expected in (("v*/*.md", False), ("**/*.md", False), ("docs/*.md", True)):
        (access,) = accesses("Grep", {"pattern": "x", "glob": glob}, cwd=cwd)
        asker = Requester(cwd=cwd, session="s", agent="a", env={"HOME": "/home/u"})
        question = Question(access.surface, access.values, requester=asker, request_id="r1", created_ms=1, wait_s=60)
        step = begin(read_request(question.content, stem="r1", inbox="root"), context)
        assert (isinstance(step, Decided) and step.is_approved) == expected, glob


# -- directories a command runs in -------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["directory", "dir_path", "workdir", "cwd", "working_directory"])
@pytest.mark.parametrize("tool", ["Bash", "run_shell_command", "exec_command", "shell"])
def test_a_command_is_judged_in_the_directory_it_runs_in(tmp_path: Path, tool: str, field: str) -> None:
    key = "cmd" if tool == "exec_command" else "command"
    assert verdict(tool, {key: "cat id_rsa", field: "~/.ssh"}, ALL + NO_ENV, tmp_path) == "deny"
    assert verdict(tool, {key: "cat x", field: "secrets"}, ALL + NO_ENV, tmp_path) == "deny"
    assert verdict(tool, {key: "cat ../secrets/x", field: "src"}, ALL + NO_ENV, tmp_path) == "deny"
    assert verdict(tool, {key: "cat passwd", field: "/etc"}, "", tmp_path) == "person"
    assert verdict(tool, {key: "cat a", field: "src"}, ALL + NO_ENV, tmp_path) == "allow"


def test_the_directory_it_runs_in_anyway_changes_nothing(tmp_path: Path) -> None:
    for place in (str(tmp_path), ".", "./", "", None):
        (access,) = accesses("exec_command", {"cmd": "npm test", "workdir": place}, cwd=str(tmp_path))
        assert (access.values, access.floor) == (("npm test",), "")


@pytest.mark.parametrize("place", ["-", "-P", "a b", "$(touch x)", "x; rm -rf ~", "x\nrm -rf ~", "'", "`id`"])
def test_a_directory_is_never_read_as_part_of_a_command(tmp_path: Path, place: str) -> None:
    rules = '[rules.bash]\n"cd *" = "allow"\n"ls *" = "allow"\n'
    (access,) = accesses("Bash", {"command": "ls", "directory": place}, cwd=str(tmp_path))
    assert verdicts([access], rules, cwd=str(tmp_path)) in (["allow"], ["person"])
    assert access.values[0].endswith(" && ls")
    assert access.values[1] == "ls"


def test_a_program_that_reads_the_command_is_part_of_it(tmp_path: Path) -> None:
    rules = '[rules.bash]\n"ls *" = "allow"\n'
    assert verdict("exec_command", {"cmd": "ls", "shell": "bash"}, rules, tmp_path) == "allow"
    assert verdict("exec_command", {"cmd": "ls", "shell": "/bin/zsh"}, rules, tmp_path) == "allow"
    assert verdict("exec_command", {"cmd": "ls", "shell": "./bash"}, rules, tmp_path) != "allow"
    assert verdict("exec_command", {"cmd": "ls", "shell": "python3"}, rules, tmp_path) != "allow"


# -- fields that disagree, and fields nobody knows -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("read_file", {"file_path": "README.md", "absolute_path": "WS/.env"}),
        ("read_file", {"absolute_path": "WS/.env", "path": "README.md"}),
        ("read_file", {"file_path": "README.md", "paths": ["a.md", ".env"]}),
        ("read_file", {"file_path": "README.md", "target": "WS/.env"}),
        ("read_file", {"file_path": "README.md", "options": {"path": [".env"]}}),
        ("read_file", {"file_path": ".env", "directory": "src"}),
        ("read_file", {"path": ["README.md", ".env"]}),
        ("read_many_files", {"paths": ["README.md", ".env"]}),
        ("read_many_files", {"include": ["**/.env"]}),
        ("Grep", {"pattern": "x", "path": "src", "dir_path": ".env"}),
        ("Grep", {"pattern": "x", "glob": "*.py", "include": ".env"}),
        ("Grep", {"pattern": "x", "paths": ["src", ".env"]}),
        ("Grep", {"pattern": "x", "files": [".env"]}),
        ("Bash", {"command": "ls", "cmd": "cat .env"}),
        ("Bash", {"command": "ls", "workdir": "src", "directory": "~/.ssh"}),
    ],
)
def test_of_several_fields_none_hides_another(tmp_path: Path, tool: str, tool_input: dict[str, Any]) -> None:
    """A deny sees every one of them, whatever order they come in."""
    text = {name: said.replace("WS", str(tmp_path)) if isinstance(said, str) else said
            for name, said in tool_input.items()}  # fmt: skip
    assert verdict(tool, text, ALL + NO_ENV, tmp_path) == "deny"


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("read_file", {"file_path": "a.md", "absolute_path": "b.md"}),
        ("Read", {"file_path": "a.md", "encoding_file": "b.md"}),
        ("Read", {"file_path": "a.md", "path": {"of": "b.md"}}),
        ("Write", {"file_path": "a.md", "path": "b.md", "content": ""}),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "file_path": "b.ipynb", "new_source": ""}),
        ("MultiEdit", {"file_path": "a.md", "edits": [{"old_string": "a", "new_string": "b", "path": "b.md"}]}),
        ("list_directory", {"path": "src", "dir_path": "docs"}),
        ("Grep", {"pattern": "x", "search_root": "docs"}),
        ("Glob", {"pattern": "*.py", "glob": "*.md"}),
        ("Bash", {"command": "ls", "cmd": "pwd"}),
        ("Bash", {"command": "ls", "env": {"LD_PRELOAD": "x.so"}}),
        ("Bash", {"command": "ls", "cmd": 7}),
        ("WebFetch", {"url": "https://a.example/x", "uri": "https://b.example/y", "prompt": "p"}),
        ("WebFetch", {"url": "https://a.example/x", "headers": {"Cookie": "x"}}),
        ("WebSearch", {"query": "x", "endpoint": "https://b.example"}),
        ("Task", {"subagent_type": "a", "agent": "b", "prompt": "p"}),
        ("Task", {"subagent_type": "a", "prompt": "p", "mode": "bypassPermissions"}),
        ("Task", {"subagent_type": "a", "prompt": "p", "cwd": "/"}),
        ("Skill", {"skill": "a", "name": "b"}),
        ("apply_patch", {"input": "*** Add File: a\n+x", "patch": "*** Add File: b\n+x"}),
        ("apply_patch", {"input": "*** Add File: a\n+x", "path": "b"}),
        ("apply_patch", {"input": "*** Add File: a\n+x", "workdir": "/elsewhere"}),
        ("apply_patch", {"input": "*** Add File: a\n+x\n*** Copy File: b\n"}),
    ],
)
def test_a_call_in_doubt_goes_to_a_person_and_says_why(tmp_path: Path, tool: str, tool_input: dict[str, Any]) -> None:
    """Even where everything is allowed: which field counts is the agent's to say."""
    asked = accesses(tool, tool_input, cwd=str(tmp_path))
    assert all(f"`{tool}`: it" in one.floor for one in asked)
    assert set(verdicts(asked, ALL, cwd=str(tmp_path))) <= {"person", "deny"}


def test_fields_that_say_the_same_agree(tmp_path: Path) -> None:
    same = {"file_path": "README.md", "absolute_path": f"{tmp_path}/README.md", "path": "./docs/../README.md"}
    (access,) = accesses("read_file", same, cwd=str(tmp_path))
    assert (access.values, access.floor) == (("README.md",), "")
    (access,) = accesses("Bash", {"command": "ls", "cmd": "ls", "timeout": None, "env": {}}, cwd=str(tmp_path))
    assert (access.values, access.floor) == (("ls",), "")


def test_a_strange_fields_name_is_told_in_plain_characters() -> None:
    (access,) = accesses("Read", {"file_path": "a", "x\n\u202e`": "b"})
    assert access.floor.isprintable()
    assert access.floor.count("`") == 4


# -- patches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["*** Add File: ", "  *** Update File: ", "\t*** Delete File:", "*** Move to:  ",
                                    " *** move to: ", "\u00a0*** Add File: "])  # fmt: skip
@pytest.mark.parametrize("field", ["input", "patch", "patchText", "command"])
def test_every_header_of_a_patch_is_seen(header: str, field: str) -> None:
    patch = f"*** Begin Patch\n*** Update File: a.py\n-x\n{header}.env\n+y\n*** End Patch"
    found = accesses("apply_patch", {field: patch})
    assert [(one.surface, one.values[0], one.floor) for one in found] == [("edit", "a.py", ""), ("edit", ".env", "")]


# -- one normal form -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", ["read", "write", "edit", "grep", "glob", "ls", "list", "find", "path_read", "view",
                                     "read_file", "notebook_read", "search", "create", "patch", "delete", "remove",
                                     "write_file", "delete_file"])  # fmt: skip
def test_a_detour_is_matched_where_it_leads(tmp_path: Path, surface: str) -> None:
    from fwdperm.agents.event import Access  # noqa: PLC0415 - a value made by hand

    rules = f'[rules.{surface}]\n"src/*" = "allow"\n"secrets/*" = "deny"\n'
    for value in ("src/../secrets/x", "./src/.././secrets//x", "secrets/../src/../secrets/x"):
        assert verdicts([Access(surface, (value,))], rules, cwd=str(tmp_path)) == ["deny"]
    for value in ("src/../other/x", "src/../../x"):
        assert verdicts([Access(surface, (value,))], rules.replace("deny", "ask"), cwd=str(tmp_path)) != ["allow"] or (
            surface in {"grep", "glob", "ls", "list", "find", "search"} and value == "src/../other/x"
        )


# -- OpenCode -----------------------------------------------------------------------------------------------------


def asked(permission: str, patterns: list[str], **metadata: Any) -> dict[str, Any]:
    return {"permission": permission, "patterns": patterns, "metadata": metadata}


@pytest.mark.parametrize(
    "ask",
    [
        asked("glob", ["/etc/**"]),
        asked("glob", ["../../.ssh/*"], pattern="../../.ssh/*"),
        asked("glob", ["*.py", "~/.ssh/*"]),
        asked("grep", ["KEY"], pattern="KEY", include=".env"),
        asked("grep", ["KEY"], pattern="KEY", path=".", include="*.{env,py}"),
        asked("grep", ["KEY"], pattern="KEY", somewhere=".env"),
        asked("read", ["README.md"], filepath="/w/.env"),
        asked("edit", ["README.md"], filepath="/w/.env", diff="+x"),
        asked("bash", ["cat *"], command="cat id_rsa", workdir="~/.ssh"),
        asked("webfetch", ["https://a.example/x"], url="https://b.example/y"),
    ],
)
def test_what_opencode_says_beside_its_patterns_counts(ask: dict[str, Any]) -> None:
    found = opencode.accesses(ask, worktree="/w")
    assert strictest(verdicts(found, ALL.replace('[rules.glob]\n"*" = "allow"\n', "") + NO_ENV, cwd="/w")) in {
        "person",
        "deny",
    }, found


def test_what_opencode_says_every_day_is_as_it_was() -> None:
    (one,) = opencode.accesses(asked("grep", ["KEY"], pattern="KEY", path="src", include="*.py"), worktree="/w")
    assert (one.values, one.floor) == (("src", "src/*.py", "src/**/*.py"), "")
    (one,) = opencode.accesses(asked("edit", ["a.py"], filepath="/w/a.py", diff="+x"), worktree="/w")
    assert (one.surface, one.values, one.floor) == ("edit", ("/w/a.py",), "")
    (one,) = opencode.accesses(asked("bash", ["git status"], command="git status"), worktree="/w")
    assert (one.values, one.floor) == (("git status",), "")
    (one,) = opencode.accesses(asked("webfetch", ["https://a.example"], url="https://a.example"), worktree="/w")
    assert (one.values, one.floor) == (("https://a.example",), "")
