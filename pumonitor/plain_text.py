"""Text from data as people may be shown it: nothing in it moves a cursor, a line or a terminal."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, TextIO

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

_UNITS: Final = (("d", 86_400), ("h", 3600), ("min", 60))

_ESCAPED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# They turn the direction of what stands around them.
_TURNING: Final = frozenset(
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_CONTROL: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def one_line(text: str) -> str:
    r"""The text on one line, with escapes in place of line breaks and control characters.

    Examples
    --------
    >>> print(one_line("v1\nall is well\x1b[31m"))
    v1\nall is well\x1b[31m
    >>> print(one_line("Åland, 日本"))
    Åland, 日本
    """
    return "".join(map(_shown, text))


def printable(text: str) -> str:
    r"""The same for text of our own that quotes data: its line breaks and tabs stay.

    Examples
    --------
    >>> print(printable("one\ntwo\x07"))
    one
    two\x07
    """
    return "".join(one if one in "\n\t" else _shown(one) for one in text)


def series_of(model_version: str, segment: str, *, between: str = " ") -> str:
    """Which version and segment, of what is not empty, on one line.

    Examples
    --------
    >>> series_of("7", "country=DE"), series_of("", "")
    ('7 country=DE', '')
    """
    return between.join(one_line(part) for part in (model_version, segment) if part)


def shown_duration(length: timedelta) -> str:
    """Format a length in the largest unit in which it is a whole number.

    Examples
    --------
    >>> from datetime import timedelta
    >>> shown_duration(timedelta(hours=36)), shown_duration(timedelta(days=14))
    ('36h', '14d')
    """
    seconds = length.total_seconds()
    for unit, length_of_unit in _UNITS:
        if seconds % length_of_unit == 0:
            return f"{seconds / length_of_unit:.0f}{unit}"
    return f"{seconds:g}s"


def write_csv(file: TextIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table that people open in a spreadsheet: no text in it is a formula there.

    Examples
    --------
    >>> import sys
    >>> write_csv(sys.stdout, ["id", "amount"], [["=1+1", -2.5], ["a", "-2.5"]])
    id,amount
    '=1+1,-2.5
    a,-2.5
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_spreadsheet_cell, names))
    writer.writerows(map(_spreadsheet_cell, row) for row in rows)


def spreadsheet_text(cell: str) -> str:
    """Text as it was before `write_csv` made it no formula.

    Examples
    --------
    >>> spreadsheet_text("'=1+1"), spreadsheet_text("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _FORMULA else cell


def _spreadsheet_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def _shown(one: str) -> str:
    if one in _ESCAPED:
        return _ESCAPED[one]
    if unicodedata.category(one) not in _CONTROL and one not in _TURNING:
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
