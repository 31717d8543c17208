"""The mutants of one module: each a small change that a test should notice.

Lives here: `Mutant`, `mutants_of`, `code_of`. Pure: source text in, changed syntax trees out. Never here: running
anything (`mutate.py`), what a change does to a decision (`widening.py`).

Strings are left alone: what a message says is no decision. So are annotations, decorators, imports for the type
checker, `assert_never`, which the type checker proves unreachable, and the `strict` of a `zip`, which only checks us.
"""

from __future__ import annotations

import ast
import difflib
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType

_NEGATED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_SHIFTED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_CALLS: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list"}
_FEW: Final = 3
"""Up to this many siblings of an enumeration's member are all tried; of more, the two beside it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes:
        number: Which one of its module: the same for the same source.
        kind: What was done, in a word or two.
        function: Qualified name of the outermost function it lies in; empty for the module's and classes' own lines.
        line: Line of the source.
        change: The lines that differ, `- ` before and `+ ` after.
    """

    number: int
    kind: str
    function: str
    line: int
    change: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change that can be made and taken back."""

    kind: str
    node: ast.AST
    do: Callable[[], None]
    undo: Callable[[], None]


def mutants_of(source: str, siblings: Mapping[str, Sequence[str]]) -> list[Mutant]:
    """Give every mutant of a module.

    Args:
        source: The module's text.
        siblings: Enumerations that it names, with their members.
    """
    tree = ast.parse(source)
    found = []
    for number, (edit, function, holder) in enumerate(_edits(tree, siblings)):
        before = ast.unparse(holder).splitlines()
        edit.do()
        after = ast.unparse(ast.fix_missing_locations(holder)).splitlines()
        edit.undo()
        line = getattr(edit.node, "lineno", getattr(holder, "lineno", 0))
        found.append(Mutant(number, edit.kind, function, line, _difference(before, after)))
    return [one for one in found if one.change]


def code_of(source: str, number: int, siblings: Mapping[str, Sequence[str]], *, path: str) -> CodeType:
    """Compile one mutant.

    Args:
        source: The module's text.
        number: The mutant's.
        siblings: As for `mutants_of`.
        path: The module's file, which the code names as its own.
    """
    tree = ast.parse(source)
    for at, (edit, _, _) in enumerate(_edits(tree, siblings)):
        if at == number:
            edit.do()
            break
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def _difference(before: list[str], after: list[str]) -> str:
    lines = difflib.unified_diff(before, after, n=0, lineterm="")
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in list(lines)[2:] if line[0] in "+-")


def _edits(tree: ast.Module, siblings: Mapping[str, Sequence[str]]) -> Iterator[tuple[_Edit, str, ast.AST]]:
    """Give every change with the function it lies in and the node whose text shows it."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _in_function(statement, statement.name, siblings)
        elif isinstance(statement, ast.ClassDef):
            yield from _in_class(statement, statement.name, siblings)
        elif _counts(statement):
            for edit in _below(statement, siblings):
                yield edit, "", statement


def _in_class(
    made: ast.ClassDef, name: str, siblings: Mapping[str, Sequence[str]]
) -> Iterator[tuple[_Edit, str, ast.AST]]:
    for statement in made.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _in_function(statement, f"{name}.{statement.name}", siblings)
        elif isinstance(statement, ast.ClassDef):
            yield from _in_class(statement, f"{name}.{statement.name}", siblings)
        elif _counts(statement):
            for edit in _below(statement, siblings):
                yield edit, "", statement


def _in_function(
    made: ast.FunctionDef | ast.AsyncFunctionDef, name: str, siblings: Mapping[str, Sequence[str]]
) -> Iterator[tuple[_Edit, str, ast.AST]]:
    for default in (*made.args.defaults, *(one for one in made.args.kw_defaults if one is not None)):
        for edit in _below(default, siblings):
            yield edit, "", made
    is_predicate = isinstance(made.returns, ast.Name) and made.returns.id == "bool"
    for statement in made.body:
        for edit in _below(statement, siblings, is_predicate=is_predicate):
            yield edit, name, made
    falls_off = isinstance(made.body[-1], ast.Return)  # as it does where the value is made None
    for edit in _dropped_statements(made.body[: -1 if falls_off else None], held=made.body):
        yield edit, name, made


def _counts(statement: ast.stmt) -> bool:
    """Say whether a module's or class's own line can be mutated: no import, no string, no alias, no `__slots__`."""
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Expr():
            return False
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return False
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return False
        case ast.Assign(targets=[ast.Name(id="__slots__")]):
            return False
        case _:
            return True


def _below(node: ast.AST, siblings: Mapping[str, Sequence[str]], *, is_predicate: bool = False) -> Iterator[_Edit]:
    """Give every change of a node and of what is in it, but for annotations and unreachable ends."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "assert_never":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.Return):
        yield from _returned(node, is_predicate=is_predicate)
    yield from _of_node(node, siblings)
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield from _below(child, siblings, is_predicate=is_predicate)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield from _dropped_statements(value, held=value)


# -- one node ----------------------------------------------------------------------------------------------------


def _set(kind: str, node: ast.AST, field: str, value: object) -> _Edit:
    """Give the change of one field."""
    old = getattr(node, field)
    return _Edit(kind, node, lambda: setattr(node, field, value), lambda: setattr(node, field, old))


def _put(kind: str, node: ast.AST, held: list[ast.AST], at: int, value: ast.AST) -> _Edit:
    """Give the change of one element of a list."""
    old = held[at]
    return _Edit(kind, node, lambda: held.__setitem__(at, value), lambda: held.__setitem__(at, old))


def _without(kind: str, node: ast.AST, held: list[ast.AST], at: int) -> _Edit:
    """Give the change that takes one element out of a list."""
    old = held[at]
    return _Edit(kind, node, lambda: held.__delitem__(at), lambda: held.insert(at, old))


def _turned(kind: str, node: ast.AST, other: ast.AST) -> _Edit:
    """Give the change that makes a node be another in its place."""
    old_class, old = node.__class__, dict(node.__dict__)

    def do() -> None:
        held = dict(other.__dict__)
        node.__dict__.clear()
        node.__class__ = other.__class__
        node.__dict__.update(held)

    def undo() -> None:
        node.__dict__.clear()
        node.__class__ = old_class
        node.__dict__.update(old)

    return _Edit(kind, node, do, undo)


def _of_node(node: ast.AST, siblings: Mapping[str, Sequence[str]]) -> Iterator[_Edit]:  # noqa: C901, PLR0912 - one look per kind
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            yield from _joined(node)
        case ast.UnaryOp(op=ast.Not()):
            yield _turned("not dropped", node, copy(node.operand))
        case ast.BinOp() | ast.AugAssign():
            yield from _reckoned(node)
        case ast.Constant():
            yield from _constant(node)
        case ast.Call():
            yield from _called(node)
        case ast.Attribute(value=ast.Name(id=owner), attr=member) if member in siblings.get(owner, ()):
            for other in _beside(siblings[owner], member):
                yield _set("member", node, "attr", other)
        case ast.IfExp():
            yield _Edit("swapped if and else", node, *_swap(node))
            yield from _tested(node)
        case ast.If() | ast.While():
            yield from _tested(node)
            if isinstance(node, ast.If) and not node.orelse:
                yield _set("dropped check", node, "test", ast.Constant(value=False))
        case ast.For():
            yield _set("dropped loop", node, "iter", ast.Tuple([], ast.Load()))
        case ast.comprehension(ifs=ifs):
            for at in range(len(ifs)):
                yield _without("dropped filter", node, ifs, at)  # type: ignore[arg-type]
        case ast.Subscript(slice=ast.Slice()):
            yield _turned("dropped slice", node, copy(node.value))
        case ast.Break():
            yield _turned("break", node, ast.Continue())
        case ast.Continue():
            yield _turned("continue", node, ast.Break())
        case _:
            yield from _patterned(node)


def _patterned(node: ast.AST) -> Iterator[_Edit]:
    match node:
        case ast.match_case(guard=ast.expr()):
            yield _set("dropped guard", node, "guard", None)
        case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
            for at in range(len(names)):
                yield _both("dropped pattern", node, names, patterns, at)
        case ast.MatchOr(patterns=patterns):
            for at in range(len(patterns)):
                yield _without("dropped pattern", node, patterns, at)  # type: ignore[arg-type]
        case ast.MatchSingleton(value=bool() as value):
            yield _set("constant", node, "value", not value)
        case _:
            return


def _both(kind: str, node: ast.AST, names: list[str], patterns: list[ast.pattern], at: int) -> _Edit:
    name, pattern = names[at], patterns[at]

    def do() -> None:
        del names[at], patterns[at]

    def undo() -> None:
        names.insert(at, name)
        patterns.insert(at, pattern)

    return _Edit(kind, node, do, undo)


def _compared(node: ast.Compare) -> Iterator[_Edit]:
    for at, operator in enumerate(node.ops):
        for kind, table in (("negated", _NEGATED), ("off by one", _SHIFTED)):
            other = table.get(type(operator))
            if other is not None:
                yield _put(kind, node, node.ops, at, other())  # type: ignore[arg-type]
        held = node.comparators[at]
        if isinstance(operator, ast.In | ast.NotIn) and isinstance(held, ast.Set | ast.Tuple | ast.List):
            for place in range(len(held.elts) if len(held.elts) > 1 else 0):
                yield _without("dropped element", node, held.elts, place)  # type: ignore[arg-type]


def _joined(node: ast.BoolOp) -> Iterator[_Edit]:
    yield _set("and for or", node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for at in range(len(node.values)):
        rest = [value for place, value in enumerate(node.values) if place != at]
        if len(rest) == 1:
            yield _turned("dropped operand", node, copy(rest[0]))
        else:
            yield _set("dropped operand", node, "values", rest)


def _reckoned(node: ast.BinOp | ast.AugAssign) -> Iterator[_Edit]:
    other = _OPERATORS.get(type(node.op))
    if other is not None:
        yield _set("operator", node, "op", other())


def _constant(node: ast.Constant) -> Iterator[_Edit]:
    match node.value:
        case bool() as value:
            yield _set("constant", node, "value", not value)
        case int() as value:
            yield _set("constant", node, "value", value + 1)
            if value:
                yield _set("constant", node, "value", value - 1)
        case _:
            return


def _called(node: ast.Call) -> Iterator[_Edit]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _CALLS and node.args:
        yield _set("call", node, "func", ast.Name(_CALLS[name], ast.Load()))
    if name == "replace" or name.lstrip("_")[:1].isupper():
        for at, word in enumerate(node.keywords):
            if word.arg is not None:
                yield _without("dropped keyword", node, node.keywords, at)  # type: ignore[arg-type]


def _beside(members: Sequence[str], member: str) -> list[str]:
    others = [one for one in members if one != member]
    if len(others) <= _FEW:
        return others
    at = members.index(member)
    return [members[place] for place in (at - 1, at + 1) if 0 <= place < len(members)]


def _swap(node: ast.IfExp) -> tuple[Callable[[], None], Callable[[], None]]:
    def swap() -> None:
        node.body, node.orelse = node.orelse, node.body

    return swap, swap


def _tested(node: ast.If | ast.While | ast.IfExp) -> Iterator[_Edit]:
    """Negate a test that no other change negates."""
    single = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1
    if isinstance(node, ast.IfExp) or single or (isinstance(node.test, ast.UnaryOp)):
        return
    yield _set("negated", node, "test", ast.UnaryOp(ast.Not(), node.test))


def _returned(node: ast.Return, *, is_predicate: bool) -> Iterator[_Edit]:
    if node.value is None or isinstance(node.value, ast.Constant):
        return
    if is_predicate:
        yield _set("return value", node, "value", ast.Constant(value=True))
        yield _set("return value", node, "value", ast.Constant(value=False))
    else:
        yield _set("return value", node, "value", ast.Constant(None))


# -- statements --------------------------------------------------------------------------------------------------


def _dropped_statements(body: Sequence[ast.stmt], *, held: list[ast.stmt]) -> Iterator[_Edit]:
    """Give the changes that drop one statement of `body`, the beginning of `held`."""
    for at, statement in enumerate(body):
        if _is_droppable(statement):
            kind = "dropped raise" if isinstance(statement, ast.Raise) else "dropped statement"
            yield _put(kind, statement, held, at, ast.Pass())  # type: ignore[arg-type]


def _is_droppable(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
            return False
        case ast.Expr() | ast.AugAssign() | ast.Delete() | ast.Raise():
            return True
        case ast.Return(value=ast.expr()) | ast.Return():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign(targets=[ast.Name()]):
            return True
        case _:
            return False
