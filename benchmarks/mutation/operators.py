"""The small faults that can be put into a function, found in its syntax tree.

A mutant replaces the text of one expression or statement and leaves all lines where they are.
Only bodies of functions are changed: what a module or a class does when it is imported is run by
every test and seen by most. Texts are left alone, for messages have tests of their own; so are
annotations and what only type checkers run.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
}
_OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.Mult(),
    ast.Pow: ast.Mult(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
}
_NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "argmin": "argmax",
    "argmax": "argmin",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One small fault.

    Attributes
    ----------
    file : str
        Path of the module from the root, with slashes.
    function : str
        Qualified name of the function within the module.
    line : int
        Where the text begins, from 1.
    start, end : int
        Where the text stands in the module, in bytes.
    old, new : str
        The text as it is and as it becomes.
    """

    file: str
    function: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """The same for the same fault in the same function, wherever that has moved."""
        text = "\n".join((self.function, self.old, self.new))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def applied_to(self, source: bytes) -> bytes:
        """The module with the fault."""
        assert source[self.start : self.end].decode() == self.old
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants_of(file: str, source: bytes) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function, node in _function_nodes(ast.parse(source), ""):
        for place, new in _changes(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + place.end_col_offset
            old = source[start:end].decode()
            # What stood on several lines keeps them, so that no line below moves.
            text = new + "\n" * (old.count("\n") if isinstance(place, ast.stmt) else 0)
            if "\n" in old and not isinstance(place, ast.stmt):
                text = f"({new}" + "\n" * old.count("\n") + ")"
            yield Mutant(
                file=file,
                function=function,
                line=place.lineno,
                start=start,
                end=end,
                old=old,
                new=text,
            )


def _function_nodes(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Every node in the bodies of functions, with the name of the innermost function around it."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, _FUNCTIONS):
            name = f"{prefix}{child.name}"
            for statement in child.body[1:] if ast.get_docstring(child) else child.body:
                yield from _nodes_of_statement(statement, name)
        elif isinstance(child, ast.ClassDef):
            yield from _function_nodes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        elif isinstance(child, ast.stmt):
            yield from _function_nodes(child, prefix)


def _nodes_of_statement(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield from _function_nodes(ast.Module(body=[node], type_ignores=[]), f"{name}.")
        return
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    yield name, node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _nodes_of_statement(child, name)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The places of a node that can be changed, each with its new text."""
    if isinstance(node, ast.Call):
        yield from _changes_of_call(node)
    elif isinstance(node, ast.expr):
        text = _changed_expression(node)
        if text is not None:
            yield node, text
    elif isinstance(node, ast.comprehension):
        yield from ((one, _negated(one)) for one in node.ifs)
    elif isinstance(node, ast.stmt):
        text = _changed_statement(node)
        if text is not None:
            yield node, text
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, _negated(node.test)


def _changed_expression(node: ast.expr) -> str | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"({_with(node, ops=[_COMPARISONS[type(node.ops[0])]])})"
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        if not _is_text(node.left) and not _is_text(node.right):
            return f"({_with(node, op=_OPERATORS[type(node.op)])})"
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return f"({_with(node, op=other)})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        return f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return _other_number(node.value)
    return None


def _changed_statement(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Return) and node.value is not None:
        returns_none = isinstance(node.value, ast.Constant) and node.value.value is None
        return None if returns_none else "return None"
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return "pass" if is_call or isinstance(node, ast.AugAssign) else None


def _changes_of_call(node: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in _NAMES:
        text = ast.unparse(function)
        yield function, text[: len(text) - len(name)] + _NAMES[name]
    for keyword in node.keywords:
        if keyword.arg is not None:
            left = [one for one in node.keywords if one is not keyword]
            yield node, _with(node, keywords=left)


def _with(node: ast.expr, **changed: object) -> str:
    fields = dict(ast.iter_fields(node)) | changed
    return ast.unparse(ast.fix_missing_locations(type(node)(**fields)))


def _negated(node: ast.expr) -> str:
    return f"(not ({ast.unparse(node)}))"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _other_number(value: complex) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    # How small a guard against 0 is hardly matters, so that is not what is changed.
    return repr(value * 1.5 if abs(value) > 1e-3 else value + 1.0)
