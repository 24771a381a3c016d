"""`docs/messages.md`: every text a user can meet, read from the syntax trees of the code.

`python -m docs.from_code.messages` writes the file anew.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path

from docs.from_code.template_texts import texts_of_template
from pumonitor.monitor.config.text.described_keys import attributes_of

__all__ = ["PAGE", "page", "texts_of"]

PAGE = Path(__file__).parents[1] / "messages.md"
_ROOT = Path(__file__).parents[2]
_FOLDERS = ("pumonitor", "plugins")
_HEAD = """# Messages

Every text that a user can meet: errors, warnings, lines of logs, help and output of commands, descriptions of
the configuration, sentences of alerts, reports and pages. They are grouped by folder and file, `{name}` stands for what is
filled in, and texts of one word are left out. Made from the code by `python -m docs.from_code.messages`.
"""

# Texts for other programs, such as statements of SQL, regular expressions and HTML.
_CODE = re.compile(
    r"^\s*(SELECT|INSERT|arrow_cast|UPDATE [a-z_{]|DELETE FROM|CREATE|DROP|ALTER|WITH [a-z_]+ AS|BEGIN|PRAGMA|SET |FROM |WHERE |AND "
    r"|JOIN|LEFT JOIN|GROUP BY|ORDER BY|COPY |UNION|CASE |CAST|EXPLAIN|SUM\(|COUNT\(|<|\(\?|\^|var\()"
    r"|read_csv\(|read_parquet\(|coalesce\(|CASE WHEN|WHEN |quantile_cont|OVER \(|\(\?:|\\[sdwb]|</|/>| IS (NOT )?NULL|!important|: *\{\{|^ *[.#]?[a-z-]+ ?\{\{"
)
_WORDS = re.compile(r"(?<![\w{])[A-Za-z][a-z']+[,;:]?\s+[\w({'\"`-]")
# Arguments whose text is no sentence, whatever it looks like.
_SILENT_CALLS = {"getattr", "hasattr", "compile", "getLogger", "strftime", "TypeVar", "encode"}
_RAISED = re.compile(r"(Error|Exit|BadParameter|Warning|warn)$")


def page() -> str:
    """Markdown: each text once per file, under the heading of its folder and file."""
    parts = [_HEAD]
    files = [
        (path.relative_to(_ROOT), found)
        for folder in _FOLDERS
        for path in sorted((_ROOT / folder).rglob("*.py"))
        if (found := texts_of(path.read_text(encoding="utf-8"), described=_is_configuration(path)))
    ]
    files += [
        (path.relative_to(_ROOT), found)
        for folder in _FOLDERS
        for path in sorted((_ROOT / folder).rglob("templates/*.html"))
        if (found := texts_of_template(path.read_text(encoding="utf-8")))
    ]
    for folder, within in groupby(sorted(files), key=lambda one: one[0].parent):
        parts.append(f"\n## {folder}\n")
        for path, found in within:
            lines = "\n".join(" ".join(text.split()) for text in found)
            parts.append(f"\n### {path.name}\n\n```text\n{lines}\n```\n")
    return "".join(parts)


def _is_configuration(path: Path) -> bool:
    """Whether the schema of `pumonitor.yaml` shows the docstrings of the classes in a file."""
    return "monitor/config/" in path.as_posix()


def texts_of(source: str, *, described: bool = False) -> list[str]:
    """The texts for people in the code of one file, in its order and each once."""
    reader = _Reader(described=described)
    reader.visit(ast.parse(source))
    return list(dict.fromkeys(reader.found))


class _Reader(ast.NodeVisitor):
    """Collects the texts for people; of a text that is filled in also those inside."""

    def __init__(self, *, described: bool) -> None:
        self.found: list[str] = []
        self._described = described
        self._raised = False

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # A docstring otherwise.
            self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if self._described:
            self.found += _shown_docstring(node)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.found += _shown_docstring(node)
        node.returns = None
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Of the types within `Annotated[...]` and `Literal[...]` calls alone hold texts."""
        if ast.unparse(node.value).rpartition(".")[2] in ("Annotated", "Literal"):
            calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
            for call in calls:
                self.visit(call)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = _called(node)
        if called in _SILENT_CALLS:
            return
        before, self._raised = self._raised, self._raised or bool(_RAISED.search(called))
        self.generic_visit(node)
        self._raised = before

    def visit_keyword(self, node: ast.keyword) -> None:
        before, self._raised = self._raised, False
        self.generic_visit(node)
        self._raised = before

    def visit_Constant(self, node: ast.Constant) -> None:
        self._take(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._take(node)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if _filled(node) is None:
            self.generic_visit(node)
        else:
            self._take(node)
            for side in (node.left, node.right):
                if _filled(side) is None:
                    self.visit(side)

    def _take(self, node: ast.expr) -> None:
        text = _filled(node)
        if text is not None and _for_people(text, raised=self._raised):
            self.found.append(text)


def _shown_docstring(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """The help of a command and what a section of the configuration and its keys mean."""
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        return [text] if "Example: pumonitor" in text else []
    described = [one for one in attributes_of(text).values() if one]
    return [text.partition("\n\n")[0], *described] if described else []


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _filled(node: ast.AST) -> str | None:
    """The text of a literal, with names in the place of what is filled in; None for all else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Constant) and isinstance(node.value, bytes) and node.value.isascii():
        return node.value.decode()  # An answer over HTTP.
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _placeholder(part)
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _filled(node.left), _filled(node.right)
        if left is not None or right is not None:
            return (left or _placeholder(node.left)) + (right or _placeholder(node.right))
    return None


def _placeholder(node: ast.AST) -> str:
    """The name of what is filled in: of an attribute or a function the last part."""
    if isinstance(node, ast.FormattedValue):
        return _placeholder(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "get"):
            return _placeholder(node.args[0] if node.args else node.func)
        return _placeholder(node.func)
    if isinstance(node, ast.Attribute):
        return f"{{{node.attr.lstrip('_')}}}"
    if isinstance(node, ast.Name):
        return f"{{{node.id.lstrip('_')}}}"
    if isinstance(node, ast.Subscript):
        return _placeholder(node.value)
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return _placeholder(node.generators[0].iter)
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Starred)):
        names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        return _placeholder(first) if (first := next(names, None)) else "{...}"
    return "{...}"


def _for_people(text: str, *, raised: bool) -> bool:
    if _CODE.search(text):
        return False
    return bool(_WORDS.search(text)) or (raised and bool(re.search(r"[a-z]{3}", text)))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
