"""A fact about a program stands in the book: no other room names one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import fwdperm
from fwdperm.programs.families import FAMILIES, FOR_PEOPLE
from fwdperm.programs.folding import every_program

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUSE = Path(fwdperm.__file__).parent
ROOMS = ("shell", "units", "guard", "rules", "decision", "session_rules")
ALSO_WORDS = frozenset(
    """
    : . [ R act alias and at bash bat bind break build builtin cd code
    column comm command complete config consul cut dd dir enable env eval exec expect export fetch
    file find fish fly fold free go grep hash head history host http https id info
    init install join kill last less let link links list local look ls make man mc
    more mount move nice open pass paste patch pick pr print query r read rev route
    rules salt script search security see seq service session set show skill sort source split stack
    start stat step strings sum sv swift tail task test time top touch trash tree true
    false type unset up view wait watch wc which who wipe write yes
    copier editor help kind mcp n times
    """.split()  # noqa: SIM905 - read as prose
)
"""Names of programs that are words of ours, of English, or of a grammar as well."""
NEEDS_ONE: dict[tuple[str, str], str] = {
    ("shell/literal.py", "literal_output"): "computes what a few programs print",
    ("shell/literal.py", "decodes"): "computes what a few programs decode",
    ("shell/literal.py", "_ASSIGNERS"): "the shell's own grammar of assignments",
    ("shell/evaluated.py", "NAME_TAKERS"): "builtins whose words the shell itself evaluates",
    ("shell/evaluated.py", "ASSIGNERS"): "builtins whose words the shell itself evaluates",
    ("shell/evaluated.py", "GIVERS"): "builtins whose words the shell itself evaluates",
    ("shell/evaluated.py", "PRINTS"): "builtins whose words the shell itself evaluates",
    ("shell/evaluated.py", "_AFTER"): "builtins whose words the shell itself evaluates",
    ("shell/evaluated.py", "evaluated_code"): "builtins whose words the shell itself evaluates",
    ("shell/place.py", "change_directory"): "follows the shell's own directory",
    ("shell/wrappers.py", "RESERVED"): "words of the grammar",
    ("shell/wrappers.py", "TEARING"): "words of the grammar",
    ("shell/accounting.py", "_KEYWORDS"): "words of the grammar",
    ("shell/recording.py", "_CATS"): "the one spelling through which a here-document passes unchanged",
    ("shell/recording.py", "_stdin"): "computes what a shell is fed",
    ("shell/unwrap.py", "_after_options"): "grammars that no other program shares",
    ("shell/unwrap.py", "_emit"): "grammars that no other program shares",
    ("shell/unwrap.py", "_mark"): "grammars that no other program shares",
    ("guard/inline.py", "look_inside"): "asks what removing a tree would be",
    ("guard/operands.py", "_READ_THROUGH_NOT"): "names of directories",
    ("guard/command_danger.py", "_REGENERABLE"): "names of directories",
    ("guard/critical.py", "_WINDOWS_SHELLS"): "shells of another system, behind a connection",
    ("guard/critical.py", "_POWER_VERBS"): "verbs of service managers",
    ("guard/critical.py", "_partition"): "verbs of partition editors",
    ("units/plain.py", "_FILE_TOOLS"): "words of tool names, not programs",
    ("guard/tools.py", "*"): "words of tool names, not programs",
}
"""Where a program is named outside the book, with the reason. This list only shrinks."""


def named() -> Iterator[tuple[str, str, str]]:
    """Give every string that consists of names of programs: (file, function or constant, string)."""
    names = {name for page in every_program() for name in (page.name, *page.aliases)} - ALSO_WORDS
    for room in ROOMS:
        for path in sorted((HOUSE / room).rglob("*.py")):
            if path.name == "__init__.py":
                continue  # the names of a door
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for where, text in strings(tree, ""):
                words = text.split()
                if words and all(word in names for word in words):
                    yield str(path.relative_to(HOUSE)), where, text


def strings(node: ast.AST, where: str) -> Iterator[tuple[str, str]]:
    """Give every string below a node with the name of the top-level constant or the function it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # documentation
        name = where
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = child.name
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name) and not where:
            name = child.target.id
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield name, child.value
        yield from strings(child, name)


def test_no_room_but_the_book_names_a_program() -> None:
    elsewhere = [
        (file, where, text)
        for file, where, text in named()
        if (file, where) not in NEEDS_ONE and (file, "*") not in NEEDS_ONE
    ]
    assert elsewhere == []


def test_every_exception_is_still_one() -> None:
    found = {(file, where) for file, where, _ in named()} | {(file, "*") for file, _, _ in named()}
    assert set(NEEDS_ONE) - found == set()


def test_every_family_is_read_by_a_room_or_said_to_be_for_people() -> None:
    """A family that nobody reads decides nothing, and whoever adds a program must know that."""
    read = {
        node.value
        for path in HOUSE.rglob("*.py")
        if "programs" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in FAMILIES
    }
    assert set(FAMILIES) - read == FOR_PEOPLE
    assert set(FAMILIES) <= {family for program in every_program() for family in program.families}
