"""The rooms, their doors, and which way imports may point. A new room or direction is a decision: docs/decisions/."""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import fwdperm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HOUSE = Path(fwdperm.__file__).parent
TOP = HOUSE.parent

FRONT_TO_BACK = [
    {"_doors", "errors", "settings", "redaction", "clock", "late_log"},
    {"wire"},
    {"programs"},
    {"rules"},
    {"shell"},
    {"units"},
    {"guard"},
    {"judge"},
    {"decision"},
    {"journal"},
    {"session_rules"},
    {"inbox"},
    {"sessions"},
    {"seat", "client"},
    {"agents", "policy"},
    {"serve", "evals"},
    {"testing"},
    {"cli"},
]
"""Every room may import from rooms further to the front, and from its own line.

`session_rules` stands behind `journal` because it folds the journal's entries; `seat` and `client` behind `sessions`
because they ask it where things are.
"""

PURE = {
    "programs.program", "programs.folding", "programs.families", "programs.invocation", "programs.variables",
    "programs.standard", "programs.compiled",
    "decision", "session_rules", "shell", "units", "guard", "wire", "errors", "settings", "redaction",
    "_doors",
    "rules.wildcard", "rules.index", "rules.rule", "rules.unit", "rules.ruleset", "rules.chain",
    "rules.layer", "rules.mode", "rules.surface", "rules.lint", "rules.shadow", "judge.verdict", "judge.model_answer",
    "judge.brief", "judge.instructions", "judge.limits", "judge.setup", "judge.failures", "seat.queue", "seat.render",
    "seat.typed_line", "seat.editor", "seat.names", "seat.unattended", "seat.prompter_words", "journal.record",
    "journal.request_records", "journal.filters", "journal.sanitize", "sessions.session_tree", "policy.judge_config",
    "policy.briefing", "serve.deadline", "serve.prompting", "serve.fair_queue", "evals.cases", "evals.world",
    "evals.score",
}  # fmt: skip
"""Rooms and modules that read no clock, disk, network or environment, and do not log."""

IMPURE = {
    "time", "datetime", "os", "io", "socket", "subprocess", "threading", "asyncio", "logging", "structlog", "tempfile",
    "shutil", "pathlib", "random", "secrets", "uuid", "anthropic", "watchdog", "httpx", "signal", "fcntl",
}  # fmt: skip

PAST_A_DOOR: set[tuple[str, str]] = set()
"""(module, what it imports of another room past that room's door). Only ever shorter."""

FOR_USERS = {"testing"}
"""Rooms whose door is also for programs of others, so that its names need no reader in here."""

SAME_NAME = {
    "claude": "the agent, in its hooks and in its settings",
    "opencode": "as above",
    "heartbeat": "the file's form, and who writes it",
    "operands": "which words are paths, and what touching them is worth",
}
"""Names that two modules share because both speak of the same thing."""


# -- reading the house -----------------------------------------------------------------------------------------


def modules() -> list[Path]:
    return sorted(HOUSE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Give a module's dotted name below the package; a room's own for its `__init__`."""
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


def rooms() -> list[str]:
    return sorted(path.parent.name for path in HOUSE.glob("*/__init__.py"))


def line_of(room: str) -> int:
    return next(number for number, line in enumerate(FRONT_TO_BACK) if room in line)


EVERY = modules()
NAMES = {name_of(path) for path in EVERY}
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in EVERY}


def each(paths: Iterable[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a look at many files, which names every file that fails and why."""

    def over_all(look: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            failed: dict[str, str] = {}
            for path in paths:
                try:
                    look(path)
                except AssertionError as error:
                    failed[str(path.relative_to(TOP))] = str(error)
            assert failed == {}

        test.__doc__ = look.__doc__
        return test

    return over_all


each_module = each(EVERY)


class Import(NamedTuple):
    """One imported name; `name` is empty for `import module`."""

    module: str
    name: str
    types_only: bool


def imports(path: Path) -> list[Import]:
    """Give everything a module imports, wherever it stands in it."""
    found: list[Import] = []

    def walk(node: ast.AST, *, types_only: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for inner in child.body:
                    walk(ast.Module([inner], []), types_only=True)
                for inner in child.orelse:
                    walk(ast.Module([inner], []), types_only=types_only)
                continue
            if isinstance(child, ast.Import):
                found.extend(Import(name.name, "", types_only) for name in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                found.extend(Import(child.module, name.name, types_only) for name in child.names)
            walk(child, types_only=types_only)

    walk(TREES[path], types_only=False)
    return found


def target_of(one: Import) -> str:
    """Give the module below the package that an import leads to; empty for one of somebody else's."""
    if one.module == "fwdperm":
        return one.name if one.name in NAMES else ""
    if not one.module.startswith("fwdperm."):
        return ""
    inner = one.module.removeprefix("fwdperm.")
    return f"{inner}.{one.name}" if f"{inner}.{one.name}" in NAMES else inner


class Door(NamedTuple):
    """A room's door as it is written: for the type checker, for the running program, and as a list."""

    checked: dict[str, str]
    loaded: dict[str, str]
    listed: list[str]


def door_of(room: str) -> Door:
    path = HOUSE / room / "__init__.py"
    checked, loaded, listed = {}, {}, []
    for node in TREES[path].body:
        if isinstance(node, ast.If):
            for one in node.body:
                if isinstance(one, ast.ImportFrom) and one.module:
                    checked |= {name.name: one.module.removeprefix(f"fwdperm.{room}.") for name in one.names}
            for one in ast.walk(ast.Module(node.orelse, [])):
                if isinstance(one, ast.Dict):
                    written = ast.literal_eval(one)
                    loaded |= {name: module for module, names in written.items() for name in names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = list(ast.literal_eval(node.value))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            checked[node.name] = loaded[node.name] = room
            listed.append(node.name)
    return Door(checked, loaded, listed)


# -- directions ------------------------------------------------------------------------------------------------


@each_module
def test_imports_point_to_the_front(path: Path) -> None:
    """A module imports from its own line of the table or from lines before it, for the type checker too."""
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    others = {(one.module, target_of(one).split(".")[0]) for one in imports(path)}
    assert [module for module, other in others if other not in ("", room) and line_of(other) > line_of(room)] == []


@each_module
def test_pure_modules_stay_pure(path: Path) -> None:
    """The core reads no clock, disk, network or environment, and does not log."""
    if room_of(path) not in PURE and name_of(path) not in PURE:
        return
    assert [one.module for one in imports(path) if not one.types_only and one.module.split(".")[0] in IMPURE] == []


def test_every_room_is_in_the_table_and_every_name_of_the_tables_exists() -> None:
    """A room that is not in the table is nowhere; a name that moved away guards nothing."""
    there = {room_of(path) for path in EVERY} - {"__init__", "__main__"}
    assert there == set().union(*FRONT_TO_BACK)
    assert {name for name in PURE if name not in NAMES} == set()


def test_rooms_import_each_other_in_no_circle() -> None:
    """Two rooms on one line of the table do not lean on each other, at run time."""
    arrows = defaultdict(set)
    for path in EVERY:
        for one in imports(path):
            other = target_of(one).split(".")[0]
            if not one.types_only and other and other != room_of(path):
                arrows[room_of(path)].add(other)
    assert [
        (one, other) for one in list(arrows) for other in arrows[one] if one < other and one in arrows.get(other, ())
    ] == []


def test_the_model_sdk_is_imported_in_one_room() -> None:
    """Importing the model SDK costs a second and 70 MB: nobody pays before a judge is needed."""
    users = {
        room_of(path)
        for path in EVERY
        if any(one.module.split(".")[0] == "anthropic" for one in imports(path) if not one.types_only)
    }
    assert users <= {"judge"}


def test_the_asking_side_is_standard_library_only() -> None:
    """What an agent starts once for every question finds no package outside the standard library, and needs none."""
    code = (
        f"import sys; sys.path.insert(0, {str(TOP)!r}); import fwdperm; fwdperm.ask;"
        " import fwdperm.client.ask_command, fwdperm.client.pending_notes, fwdperm.agents.hook"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


# -- doors -----------------------------------------------------------------------------------------------------


@each_module
def test_a_room_is_entered_by_its_door(path: Path) -> None:
    """What one room takes from another it takes from that room's `__init__`."""
    if room_of(path) == path.stem == "__init__":
        return
    past = {
        (name_of(path), target_of(one))
        for one in imports(path)
        if "." in target_of(one) and target_of(one).split(".")[0] != room_of(path)
    }
    assert past - PAST_A_DOOR == set()


def test_no_exception_is_left_that_nobody_needs() -> None:
    """The list of imports past a door only ever gets shorter."""
    made = {(name_of(path), target_of(one)) for path in EVERY for one in imports(path)}
    assert PAST_A_DOOR - made == set()


@pytest.mark.parametrize("room", rooms())
def test_a_door_says_the_same_to_the_type_checker_and_to_the_program(room: str) -> None:
    """The names under TYPE_CHECKING, those that load, and `__all__` are the same, from the same modules."""
    door = door_of(room)
    assert door.checked == door.loaded
    assert sorted(door.listed) == sorted(door.loaded)


@pytest.mark.parametrize("room", rooms())
def test_a_door_has_no_name_that_a_module_of_the_room_has(room: str) -> None:
    """Importing the module would put the module in the name's place."""
    inside = {path.stem for path in (HOUSE / room).iterdir()}
    assert set(door_of(room).loaded) & inside == set()


@pytest.mark.parametrize("room", rooms())
def test_every_name_in_a_door_can_be_had_and_has_a_reader_outside(room: str) -> None:
    """A door gives nothing away that nobody asks for."""
    package = __import__(f"fwdperm.{room}", fromlist=["x"])
    names = set(door_of(room).loaded)
    assert {name for name in names if not hasattr(package, name)} == set()
    read = {one.name for path in EVERY if room_of(path) != room for one in imports(path) if one.module.endswith(room)}
    if room not in FOR_USERS:
        assert names - read == set()


def test_opening_every_door_loads_nothing() -> None:
    """A command pays for the modules it uses, not for those that stand beside them."""
    code = (
        f"import sys; sys.path.insert(0, {str(TOP)!r})\n"
        f"for room in {[room for room in rooms() if room != 'cli']!r}: __import__('fwdperm.' + room)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('fwdperm')))"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    opened = {f"fwdperm.{room}" for room in rooms() if room != "cli"}
    assert set(run.stdout.split()) == opened | {"fwdperm", "fwdperm._doors"}


def test_a_name_in_no_door_is_an_attribute_error() -> None:
    """As Python has it: `hasattr` says no, and `from fwdperm import nope` is an ImportError."""
    assert not hasattr(fwdperm, "nope")
    with pytest.raises(ImportError):
        exec("from fwdperm.wire import nope")  # noqa: S102 - the statement itself is what is looked at
    assert {"Answer", "ask", "ask_async"} <= set(dir(fwdperm))


# -- names -----------------------------------------------------------------------------------------------------


@each_module
def test_every_module_opens_with_its_charter(path: Path) -> None:
    """Every module opens by saying what it is; rooms also say what lives in them and what never does."""
    doc = ast.get_docstring(TREES[path])
    assert doc
    assert path.name == "__init__.py" or "ives here" in doc or "Lives here" in doc


def test_no_public_class_name_stands_for_two_things() -> None:
    """One name, one thing, over the whole house: classes, protocols and named unions."""
    found = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            within = node.body if isinstance(node, ast.If) else [node]
            for one in within:
                if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
                    found[one.name].append(name_of(path))
                elif isinstance(one, ast.AnnAssign) and "TypeAlias" in ast.unparse(one.annotation):
                    found[ast.unparse(one.target)].append(name_of(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_modules_share_a_name_for_different_things() -> None:
    """`line.py` is one file, so that a page or an error that names it names one."""
    found = defaultdict(list)
    for path in EVERY:
        if path.stem != "__init__":
            found[path.stem].append(name_of(path))
    assert {name for name, places in found.items() if len(places) > 1} <= set(SAME_NAME)


# -- what words point to ---------------------------------------------------------------------------------------

SAMPLES = {
    "app.py", "conftest.py", "a.py", "b.py", "main.py", "setup.py", "x.py", "conf.py", "manage.py",
}  # fmt: skip
"""File names that stand in examples, and are nobody's here."""


def repository() -> set[str]:
    kept = {path for folder in ("fwdperm", "tests", "docs", "examples") for path in (TOP / folder).rglob("*")}
    names = {str(path.relative_to(TOP)) for path in kept if "__pycache__" not in path.parts}
    return names | {path.name for path in TOP.iterdir()}


THERE = repository()
TAILS = {name.removeprefix("fwdperm/") for name in THERE} | {name.rpartition("/")[2] for name in THERE} | THERE


def words_of(path: Path) -> str:
    """Give a Python file's comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    found = [
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    ]
    found += [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return "\n".join(found)


def unknown_files(text: str, *, sure: bool) -> set[str]:
    """Give the names of files in a text that are no file of this repository.

    Args:
        text: Words.
        sure: Take every `name.py`; otherwise only those with a folder of ours before them.
    """
    pages = set(re.findall(r"(?<![\w/.-])docs/[\w./-]+\w", text))
    named = set(re.findall(r"(?<![\w/.*-])(?:\w+/)*\w+\.py\b", text))
    ours = {name for name in named if sure or name.split("/")[0] in {*rooms(), "fwdperm", "tests"}}
    found = {name for name in pages if name not in THERE and name.split("#")[0] not in THERE}
    return found | {name for name in ours if name not in TAILS and name not in SAMPLES}


def unknown_modules(text: str) -> set[str]:
    """Give dotted names below the package that lead to no module and no name in one."""
    found = set()
    for name in re.findall(r"(?<![\w./])fwdperm((?:\.[A-Za-z_]\w*)+)(?![\w/-])", text):
        parts = name[1:].split(".")
        longest = next((at for at in range(len(parts), 0, -1) if ".".join(parts[:at]) in NAMES), 0)
        if longest == 0 and (len(parts) > 1 or parts[0] not in {*rooms(), *fwdperm.__all__, "toml", "json", "sh"}):
            found.add(f"fwdperm{name}")
    return found


def unknown_marked(text: str, *, samples: bool) -> set[str]:
    """Give what a page marks as a file or a module of ours, by path or by name, and what is neither.

    Args:
        text: The page.
        samples: Names without a folder may be files of somebody else.
    """
    found = set()
    for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text):
        for word in (one.rstrip(",;:") for one in span.split()):
            is_ours = "/" in word and word.partition("/")[0] in {*rooms(), "fwdperm", "tests", "docs", "examples"}
            is_bare = re.fullmatch(r"\w+\.py", word) is not None and not samples
            name = word.rstrip("/").partition("::")[0]
            if (is_ours or is_bare) and not re.search(r"[*<{]", word):
                found |= {word} - {word for one in (name, f"{name}.py") if one in TAILS or one in SAMPLES}
    return found


EXPLAINED = {"redaction", "guard", "shell", "units"}
"""Rooms whose regular expressions are read by people who want to know what is recognised."""


def expressions(path: Path) -> list[tuple[str, str]]:
    """Give the name and the words of every regular expression that a module makes once."""
    body = TREES[path].body
    found = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and node.value and ast.unparse(node.value).startswith("re.compile"):
            is_said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found.append((ast.unparse(node.target), str(after.value.value) if is_said else ""))
    return found


WORDS = [(name_of(path), *one) for path in EVERY if room_of(path) in EXPLAINED for one in expressions(path)]


@pytest.mark.parametrize(("module", "name", "words"), WORDS, ids=[f"{one[0]}.{one[1]}" for one in WORDS])
def test_a_regular_expression_says_what_it_recognises_with_an_example(module: str, name: str, words: str) -> None:
    r"""The first text marked in its words is one; `\n` and the like stand for the characters that they name."""
    examples = re.findall(r"`([^`]+)`", words)
    assert examples, f"{name} needs words and an example"
    made = getattr(importlib.import_module(f"fwdperm.{module}"), name)
    is_bytes = isinstance(made.pattern, bytes)
    if made.search(examples[0].encode() if is_bytes else examples[0]) is None:
        text = examples[0].encode().decode("unicode_escape")
        assert made.search(text.encode() if is_bytes else text)


@each_module
def test_every_file_named_in_a_docstring_or_comment_exists(path: Path) -> None:
    """A name that leads nowhere sends the next reader looking for what is gone."""
    words = words_of(path)
    assert unknown_files(words, sure=True) == set()
    assert unknown_modules(words) == set()


@each(sorted([*(TOP / "docs").rglob("*.md"), *TOP.glob("*.md")]))
def test_every_file_named_on_a_page_exists(page: Path) -> None:
    """As above, for pages; the changelog tells of what was."""
    if page.name == "changelog.md":
        return
    text = page.read_text(encoding="utf-8")
    assert unknown_files(text, sure="decisions" in page.parts) == set()
    assert unknown_modules(text) == set()
    assert unknown_marked(text, samples=page.name == "guard.md") == set()


def test_a_page_that_names_what_is_gone_is_found() -> None:
    """By path, by a module's name with its room, by a bare file name; somebody else's files are not ours to know."""
    text = "`serve/gone.py`, `serve/lifecycle`, `decision/gone`, `gone.py`, `lifecycle.py`, `src/app.py`, `tests/wire`"
    assert unknown_marked(text, samples=False) == {"serve/gone.py", "decision/gone", "gone.py"}
    assert unknown_marked(text, samples=True) == {"serve/gone.py", "decision/gone"}


@each(sorted((TOP / "tests").rglob("*.py")))
def test_every_file_named_in_a_tests_words_exists(path: Path) -> None:
    """As above, for tests."""
    assert unknown_files(words_of(path), sure=False) == set()


# -- what nobody uses ------------------------------------------------------------------------------------------

FOR_OTHERS = {
    "client.asking.ask_async": "one of the three public names, for programs of others",
    "agents.claude_sdk.permission_callback": "for programs that use an SDK: docs/how-to/python-sdks.md shows it",
    "programs.families.FOR_PEOPLE": "says which families are words for people; a test holds it to that",
    "testing.simulation": "the simulator, for tests of this program and of others",
    "testing.model_server": "as above",
}
"""Names, or whole modules, that no line of the program uses, with who does."""

CALLED_BY_NAME = {"visit", "generic_visit", "do_GET", "do_HEAD", "do_POST", "log_message", "on_any_event"}
"""Methods that a library of somebody else's calls, under a name of its own."""

PLAIN_DECORATORS = {
    "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "lru_cache", "property",
    "runtime_checkable", "staticmethod",
}  # fmt: skip
"""Decorators after which a name still has to be used by somebody."""


def used_names(tree: ast.Module, *, is_door: bool) -> set[str]:
    """Give every name that a module says, where it does not merely define it or pass it on in a door."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and not is_door:
            found |= {name.name for name in node.names}
    return found


def defined_names(path: Path) -> list[str]:
    """Give the public functions, classes, methods and constants of a module.

    Left out is what a decorator hands to somebody else: a command of the command line, a check of a model.
    """
    found = []

    def look(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                decorators = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
                if decorators <= PLAIN_DECORATORS:
                    found.append(node.name)
                if isinstance(node, ast.ClassDef):
                    look([one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))])
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.extend(one.id for one in targets if isinstance(one, ast.Name))

    look(TREES[path].body)
    return [name for name in found if not name.startswith("__") and name not in CALLED_BY_NAME]


USED = set().union(*(used_names(tree, is_door=path.name == "__init__.py") for path, tree in TREES.items()))


@each_module
def test_nothing_is_there_for_tests_alone(path: Path) -> None:
    """What only a test uses is a promise that nobody keeps: it is wired or removed."""
    if path.name == "__init__.py" or name_of(path) in FOR_OTHERS:
        return
    unused = {f"{name_of(path)}.{name}" for name in defined_names(path) if name not in USED}
    assert unused - set(FOR_OTHERS) == set()


def test_every_exception_for_names_without_a_user_is_needed() -> None:
    """The list of them only ever gets shorter."""
    there = {f"{name_of(path)}.{name}" for path in EVERY for name in defined_names(path)} | NAMES
    assert set(FOR_OTHERS) - there == set()
    assert {one for one in FOR_OTHERS if one.rpartition(".")[2] in USED} == set()


# -- what is installed -----------------------------------------------------------------------------------------

PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


def name_in(requirement: str) -> str:
    """Give the name by which a package is imported."""
    return re.split(r"[<>=~!;\[ ]", requirement)[0].replace("-", "_")


def test_every_library_is_imported_and_every_import_is_a_library_of_ours() -> None:
    """What is installed for nothing has to be kept safe for nothing."""
    given = {name_in(one) for one in PROJECT["project"]["dependencies"]}
    used = {one.module.split(".")[0] for path in EVERY for one in imports(path)}
    assert given - used == set()
    optional = {name_in(one) for one in PROJECT["project"]["optional-dependencies"]["agents"]}
    foreign = used - sys.stdlib_module_names - {"fwdperm", "pydantic_core", "_sha2"} - given  # parts of others
    assert {one for one in foreign if not any(one.startswith(name.removesuffix("_slim")) for name in optional)} == set()


def test_a_page_says_what_each_library_is_for() -> None:
    text = (TOP / "docs/decisions/0011-libraries.md").read_text(encoding="utf-8")
    rows = {row.split("|")[1]: row for row in text.splitlines() if row.startswith("| `")}
    said = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert said == {re.split(r"[<>=]", one)[0] for one in PROJECT["project"]["dependencies"]}
    for row, whole in rows.items():
        places = [TOP / place for place in re.findall(r"`(fwdperm/[\w/.]+)`", whole)]
        names = [name_in(name) for name in re.findall(r"`([\w-]+)`", row)]
        for place in places:
            inside = [path for path in EVERY if path == place or place in path.parents]
            there = {one.module.split(".")[0] for path in inside for one in imports(path)}
            assert there.intersection(names), (row, place)


def test_the_development_tools_stand_once() -> None:
    assert "dependency-groups" not in PROJECT
    assert "dev" in PROJECT["project"]["optional-dependencies"]
