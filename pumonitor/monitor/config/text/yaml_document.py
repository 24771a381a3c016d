"""Read YAML safely: plain values only, duplicate keys refused, line numbers kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.text.problems import Place, Problem

_MOST_VALUES = 500_000
_MOST_SENT = 1000
_DEEPEST = 30
_MOST_DIGITS = 100

_BOOLEANS: Final = {"true": True, "false": False}
_MISSING = ("", "~", "null")
_INTEGER = re.compile(r"[-+]?\d+")
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATETIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?\s?(Z|[-+]\d\d:\d\d)?")

# Inside {...} a brace ends a plain value, so {url: ${NAME}} would not be valid YAML. While the file
# is parsed, two private-use characters replace the braces; the text keeps its length and columns.
_REFERENCE = re.compile(r"\$\{([^{}\n]*)\}")
_OPEN, _CLOSE = "\ue000", "\ue001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's values and their lines.

    Attributes
    ----------
    value : object
        Mappings, lists, text, numbers and dates.
    lines : mapping of place to int
        Place of every key and item to its line, from 1.
    problems : tuple of Problem
        Duplicate keys and values that cannot be read.
    """

    value: Any
    lines: Mapping[Place, int]
    problems: tuple[Problem, ...]


def read_document(text: str, *, name: str, trusted: bool = True) -> Document:
    r"""Read YAML text.

    As in YAML 1.2, `yes` and `on` are text and `1e-3` is a number. Values in quotes are text. What
    anybody may send is not `trusted`: it has 1,000 values at most and no aliases, a few of which
    stand for any number of values.

    Raises
    ------
    InputError
        If the text is not YAML. The message has the line number and not the text of the line,
        which may be a secret.

    Examples
    --------
    >>> found = read_document("a: 1\nb: [2026-01-01, ${HOME}]\na: 2\n", name="some.yaml")
    >>> found.value
    {'a': 1, 'b': [datetime.date(2026, 1, 1), '${HOME}']}
    >>> found.lines[("b", 1)], found.problems[0].message
    (2, 'appears twice: first in line 1')
    """
    protected = _REFERENCE.sub(rf"${_OPEN}\1{_CLOSE}", text)
    node = _composed(protected, name, has_aliases=trusted)
    reading = _Reading(name, most=_MOST_VALUES if trusted else _MOST_SENT)
    value = None if node is None else reading.value(node, ())
    return Document(value=value, lines=reading.lines, problems=tuple(reading.problems))


def _composed(text: str, name: str, *, has_aliases: bool) -> Any:
    """The root node of a text: by the parser in C, and again in Python to say what is wrong."""
    import yaml

    try:
        if yaml.__with_libyaml__:
            return yaml.compose(text, Loader=_guarded(_with_parser_in_c(), name, has_aliases))
    except yaml.YAMLError:
        pass
    try:
        return yaml.compose(text, Loader=_guarded(yaml.BaseLoader, name, has_aliases))
    except yaml.reader.ReaderError as error:
        msg = f"{name} contains a character (code {error.character}) that YAML does not allow"
        raise InputError(msg) from None
    except yaml.MarkedYAMLError as error:
        raise InputError(_not_yaml(error, name)) from None


def _guarded(base: Any, name: str, has_aliases: bool) -> Any:  # noqa: FBT001
    from yaml import AliasEvent

    class Loader(base):  # type: ignore[misc]
        """Loader that refuses deep nesting, as composing is recursive, and aliases if need be."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.depth > _DEEPEST:
                mark = self.peek_event().start_mark
                raise InputError(_too_deep(f"{name}, line {mark.line + 1}"))
            if not has_aliases and self.check_event(AliasEvent):
                msg = f"{name} has an alias (*name), which is not taken here: write the value out"
                raise InputError(msg)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Loader


def _with_parser_in_c() -> Any:
    """A loader whose events come from C, in a tenth of the time, and whose nodes from Python."""
    from yaml.composer import Composer
    from yaml.resolver import BaseResolver

    parser: Any = import_module("yaml.cyaml").CParser

    class Loader(Composer, parser, BaseResolver):  # type: ignore[misc]
        def __init__(self, stream: str) -> None:
            parser.__init__(self, stream)
            Composer.__init__(self)
            BaseResolver.__init__(self)

    return Loader


def _too_deep(where: str) -> str:
    return (
        f"{where}: more than {_DEEPEST} lists or mappings are nested, which no setting needs: "
        "check brackets, braces, indentation and aliases (*name)"
    )


def _not_yaml(error: Any, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    # YAML's message quotes aliases and tags; a password that begins with * or ! looks like one.
    problem = re.sub(
        r"(alias|tag|handle|anchor) '[^']*'|(alias|tag) \S+", r"\1\2", error.problem or ""
    )
    problem = _plain(problem) if len(problem) < 120 else "cannot be read"
    remedy = "check indentation, colons and quotes"
    if "\\t" in problem:
        problem, remedy = "there is a tab", "write spaces in its place"
    return f"{name}{where}: this is not YAML ({problem}); {remedy}"


def _plain(text: str) -> str:
    return text.replace(_OPEN, "{").replace(_CLOSE, "}")


class _Reading:
    """Converts YAML nodes to values, and collects their lines and problems."""

    def __init__(self, name: str, *, most: int) -> None:
        self._name = name
        self._most = most
        self.lines: dict[Place, int] = {}
        self.problems: list[Problem] = []
        self._values = 0

    def value(self, node: Any, place: Place) -> Any:
        self.lines.setdefault(place, node.start_mark.line + 1)
        self._values += 1
        if len(place) > _DEEPEST:
            # An alias is composed once and can nest deeper than the loader saw.
            raise InputError(_too_deep(f"{self._name}, line {node.start_mark.line + 1}"))
        if self._values > self._most:
            msg = (
                f"{self._name} contains more than {self._most:,} values: check its aliases (*name)"
            )
            raise InputError(msg)
        if node.tag not in {f"tag:yaml.org,2002:{kind}" for kind in ("map", "seq", "str")}:
            return self._refused(place, "has a tag (!...): put the value in quotes")
        if node.id == "mapping":
            return self._mapping(node, place)
        if node.id == "sequence":
            return [self.value(item, (*place, at)) for at, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _mapping(self, node: Any, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                self._refused(place, "has a key that is no text", line=line)
                continue
            name = _plain(key.value)
            here = (*place, name)
            if name in found:
                message = f"appears twice: first in line {self.lines[here]}"
                self.problems.append(Problem(place=here, message=message, line=line))
                continue
            self.lines[here] = line
            found[name] = self.value(item, here)
        return found

    def _scalar(self, node: Any, place: Place) -> Any:
        text = _plain(node.value)
        if node.style:
            return text
        if text.lower() in _MISSING:
            return None
        if text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        if _INTEGER.fullmatch(text):
            if len(text) > _MOST_DIGITS:
                return self._refused(place, f"is a number with {len(text):,} digits: check it")
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
        try:
            if _DATE.fullmatch(text):
                return date.fromisoformat(text)
            if _DATETIME.fullmatch(text):
                return datetime.fromisoformat(text.replace(" Z", "Z"))
        except ValueError as error:
            return self._refused(place, f"{text} is not a date: {error}")
        return text

    def _refused(self, place: Place, message: str, *, line: int | None = None) -> None:
        self.problems.append(Problem(place=place, message=message, line=line))
