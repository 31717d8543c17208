"""Imported rulesets never allow what the settings they come from did not: held to slow oracles of documented rules."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdperm.agents.importing import import_settings
from fwdperm.errors import OperatorError
from fwdperm.rules.rule import Action, LayerKind
from fwdperm.rules.ruleset import Ruleset
from fwdperm.rules.toml_file import read_config
from fwdperm.units.breakdown import break_down
from fwdperm.wire.request import Facts

HOME, CWD = "/home/u", "/home/u/project"
ORDER = [Action.ALLOW, Action.ASK, Action.DENY]


def ours(toml: str, surface: str, value: str) -> Action:
    """Decide as the recorded ruleset alone does: the strictest over all units."""
    config = read_config(toml, file="imported.toml", kind=LayerKind.USER)
    assert not [problem for problem in config.problems if problem.is_error], (config.problems, toml)
    ruleset = Ruleset.compose([config.layer], home=HOME)
    found = [ruleset.resolve(unit) for unit in break_down(Facts(surface, (value,), cwd=CWD, home=HOME)).units]
    spoken = [one.action for one in found if one.action is not None]
    return max(spoken, key=ORDER.index, default=Action.ASK)


def imported(kind: str, table: Any) -> str:
    return import_settings(kind, json.dumps(table), file="settings.json").toml


# -- what people write ------------------------------------------------------------------------------------------

CLAUDE = {
    "permissions": {
        "allow": ["Bash(npm run lint)", "Bash(git log:*)", "Read(src/**)", "WebFetch(domain:example.com)", "TodoWrite"],
        "ask": ["Bash(git push:*)"],
        "deny": ["Bash(curl:*)", "Read(./.env)", "Read(secrets/**)", "mcp__github__delete_repo", "Edit(/etc/**)"],
        "defaultMode": "acceptEdits",
    }
}


@pytest.mark.parametrize(
    ("surface", "value", "expected"),
    [
        ("bash", "npm run lint", "allow"),
        ("bash", "npm run lint && npm run lint", "allow"),
        ("bash", "npm run lint-all", "ask"),
        ("bash", "git log --oneline", "allow"),
        ("bash", "git logs", "ask"),
        ("bash", "git push origin", "ask"),
        ("bash", "git log && curl example.com", "deny"),
        ("read", "src/a/b.py", "allow"),
        ("read", f"{CWD}/src/a.py", "allow"),
        ("read", "src/../../other/x", "ask"),
        ("read", ".env", "deny"),
        ("read", "sub/.env", "deny"),
        ("read", "secrets/a/b", "deny"),
        ("grep", "secrets/a", "deny"),
        ("bash", "cat secrets/key", "deny"),
        ("write", "/etc/passwd", "deny"),
        ("web", "https://example.com/x", "allow"),
        ("web", "https://example.com.evil.net/x", "ask"),
        ("mcp", 'github__delete_repo {"name":"x"}', "deny"),
        ("mcp", "github__list {}", "ask"),
        ("TodoWrite", "{}", "allow"),
    ],
)
def test_claude_codes_settings_decide_here_as_they_did(surface: str, value: str, expected: str) -> None:
    toml = imported("claude", CLAUDE)
    # `/etc/**` lies below the settings file there; here the denial stands for it wherever it is
    assert ours(toml, surface, value) is Action(expected)


OPENCODE = {
    "permission": {
        "*": "ask",
        "bash": {"*": "ask", "git *": "allow", "git push *": "deny"},
        "edit": {"*": "deny", "src/*": "allow"},
        "webfetch": "allow",
        "task": {"reviewer": "allow"},
    }
}


@pytest.mark.parametrize(
    ("surface", "value", "expected"),
    [
        ("bash", "git status", "allow"),
        ("bash", "git status && git push", "deny"),
        ("bash", "ls", "ask"),
        ("write", "src/a.ts", "allow"),
        ("edit", "README.md", "deny"),
        ("web", "https://example.com/", "allow"),
        ("web", "search: anything", "ask"),
        ("agent", "reviewer", "allow"),
        ("agent", "builder", "ask"),
        ("bash", "git -C /etc log", "ask"),
    ],
)
def test_opencodes_settings_decide_here_as_they_did(surface: str, value: str, expected: str) -> None:
    assert ours(imported("opencode", OPENCODE), surface, value) is Action(expected)


PI = {
    "permission": {
        "*": "allow",
        "path": {"*": "allow", "*.env": "deny", "*.env.example": "allow"},
        "bash": {"*": "ask", "ls *": "allow", "rm -rf *": "deny"},
        "external_directory": "ask",
    }
}


@pytest.mark.parametrize(
    ("surface", "value", "expected"),
    [
        ("bash", "ls -l", "allow"),
        ("bash", "make", "ask"),
        ("bash", "ls && rm -rf x", "deny"),
        ("bash", "ls .env", "deny"),
        ("read", "a.env", "deny"),
        ("read", "a.py", "allow"),
        ("read", "/etc/hosts", "ask"),
        ("write", ".env", "deny"),
    ],
)
def test_pis_settings_decide_here_as_they_did(surface: str, value: str, expected: str) -> None:
    assert ours(imported("pi", PI), surface, value) is Action(expected)


def test_pis_default_of_asking_also_stands_over_paths_that_a_tool_allows() -> None:
    toml = imported("pi", {"permission": {"read": "allow"}})
    assert ours(toml, "read", "a.py") is Action.ASK


def test_what_is_left_out_stands_as_a_comment_with_its_reason() -> None:
    made = import_settings(
        "claude",
        json.dumps({"permissions": {"allow": ["Read(*.py)", "Bash(ls ?)"], "additionalDirectories": ["/x"]}}),
        file="s.json",
    )
    assert len(made.dropped) == 3
    for line in made.dropped:
        assert f"#   {line}" in made.toml


def test_comments_and_last_commas_are_read() -> None:
    text = '{ // mine\n "permission": {"bash": {"echo // *": "allow", /* no */ "*": "ask",},},\n}'
    assert '"echo // *" = "allow"' in import_settings("pi", text, file="c.jsonc").toml


@pytest.mark.parametrize("text", ["", "[]", "{", '{"permissions": []}', '{"permissions": {"allow": "Bash"}}'])
def test_no_settings_make_no_ruleset(text: str) -> None:
    with pytest.raises(OperatorError):
        import_settings("claude", text, file="s.json")


def test_a_name_cannot_write_toml_of_its_own() -> None:
    """Whatever stands in a pattern is a string of the ruleset, and a line break in it ends no comment."""
    evil = 'x"\n[rules.bash]\n"*" = "allow'
    toml = imported("opencode", {"permission": {"bash": {evil: "allow"}, f"t\n{evil}": "allow", "y": {evil: "maybe"}}})
    assert ours(toml, "bash", "rm x") is Action.ASK


# -- nothing becomes wider --------------------------------------------------------------------------------------

WORDS = ["git", "gitk", "git push", "ls", "rm -r a"]
COMMANDS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)
CLAUDE_BASH = st.builds(
    lambda head, tail: head + tail, COMMANDS, st.sampled_from(["", ":*", " *", "*", " * x", "?", ":* x"])
)


def simple_glob(pattern: str, text: str) -> bool:
    """Match `*` and `?` as any run and any one character, with a trailing ` *` optional; by trying everything."""
    if pattern.endswith(" *") and simple_glob(pattern[:-2], text):
        return True
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(simple_glob(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] in (text[0], "?") and simple_glob(pattern[1:], text[1:])


def claude_bash(inside: str, command: str) -> bool:
    """Say whether Claude Code's rule matches a command: exactly, or up to a word's end with `:*`, or with stars."""
    if inside.endswith(":*"):
        prefix = inside[:-2]
        return command == prefix or command.startswith(prefix + " ")
    literal = "".join("*" if char == "*" else char if char != "?" else "\0" for char in inside)
    return simple_glob(literal, command.replace("?", "\0"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(CLAUDE_BASH, max_size=4),
    st.lists(CLAUDE_BASH, max_size=2),
    st.lists(CLAUDE_BASH, max_size=2),
    COMMANDS,
)
def test_no_command_is_allowed_that_claude_code_would_not_have_allowed(
    allow: list[str], ask: list[str], deny: list[str], command: str
) -> None:
    table = {"permissions": {name: [f"Bash({one})" for one in rules] for name, rules in
                             (("allow", allow), ("ask", ask), ("deny", deny))}}  # fmt: skip
    if ours(imported("claude", table), "bash", command) is Action.ALLOW:
        assert any(claude_bash(one, command) for one in allow)
        assert not any(claude_bash(one, command) for one in [*ask, *deny])


SEGMENTS = st.sampled_from(["src", "a", "b.py", ".env", "secrets", "*", "**", "*.py", "?"])
PATTERNS = st.builds(
    lambda head, parts: head + "/".join(parts),
    st.sampled_from(["", "./", "//", "~/", "/"]),
    st.lists(SEGMENTS, min_size=1, max_size=3),
)
PATHS = st.lists(st.sampled_from(["src", "a", "b.py", ".env", "secrets", "x"]), min_size=1, max_size=4).map("/".join)


def gitignore(pattern: str, path: str) -> bool:
    """Say whether a gitignore-like pattern matches a path below the working directory, or one of its parents."""
    full = f"{CWD}/{path}"
    if pattern.startswith("//"):
        base, body, anchored = "/", pattern[2:], True
    elif pattern.startswith("~/"):
        base, body, anchored = HOME + "/", pattern[2:], True
    else:
        base, body = CWD + "/", pattern.removeprefix("./").lstrip("/")
        anchored = "/" in pattern.removeprefix("./").rstrip("/")
    if not full.startswith(base):
        return False
    regex = re.escape(body.rstrip("/"))
    regex = regex.replace(r"/\*\*", "(?:/.*)?").replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    regex = regex.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    head = "" if anchored else "(?:.*/)?"
    return re.fullmatch(f"{head}{regex}(?:/.*)?", full[len(base) :]) is not None


@settings(max_examples=400, deadline=None)
@given(st.lists(PATTERNS, max_size=3), st.lists(PATTERNS, max_size=2), PATHS)
def test_no_file_is_read_that_claude_code_would_not_have_read(allow: list[str], deny: list[str], path: str) -> None:
    table = {"permissions": {"allow": [f"Read({one})" for one in allow], "deny": [f"Read({one})" for one in deny]}}
    if ours(imported("claude", table), "read", path) is Action.ALLOW:
        assert any(gitignore(one, path) for one in allow)
        assert not any(gitignore(one, path) for one in deny)


ACTION = st.sampled_from(["allow", "ask", "deny"])
GLOBS = st.sampled_from(["*", "git *", "git push *", "npm *", "*a*", "src/*", "*.env", "g?", "ls"])
TABLE = st.one_of(ACTION, st.dictionaries(GLOBS, ACTION, min_size=1, max_size=4))


def last_match(rules: list[tuple[str, str]], value: str) -> str:
    found = [action for pattern, action in rules if simple_glob(pattern, value)]
    return found[-1] if found else "ask"


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["*", "bash", "read", "edit"]), TABLE), max_size=4), COMMANDS)
def test_no_command_is_allowed_that_opencode_would_not_have_allowed(entries: list[tuple[str, Any]], line: str) -> None:
    table = dict(entries)
    rules = [
        (pattern, action)
        for tool, value in table.items()
        if tool in ("*", "bash")
        for pattern, action in ({"*": value} if isinstance(value, str) else value).items()
    ]
    if ours(imported("opencode", {"permission": table}), "bash", line) is Action.ALLOW:
        assert last_match(rules, line) == "allow"


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["*", "read", "path", "external_directory", "bash"]), TABLE, max_size=4),
    PATHS,
)
def test_no_file_is_read_that_pi_would_not_have_read(table: dict[str, Any], path: str) -> None:
    if isinstance(table.get("*"), dict):
        table["*"] = "ask"
    fallback = table.get("*", "ask")

    def layer(name: str) -> str:
        value = table.get(name, fallback)
        rules = [("*", fallback), *({"*": value} if isinstance(value, str) else value).items()]
        found = [max((action for pattern, action in [rule] if simple_glob(pattern, spelled)), default="")
                 for rule in rules for spelled in (path,)]  # fmt: skip
        return next((action for action in reversed(found) if action), "ask")

    if ours(imported("pi", {"permission": table}), "read", path) is Action.ALLOW:
        assert {layer("read"), layer("path")} == {"allow"}
