"""Labels that are written into statements, where a session has no table to take them to."""

# ruff: noqa: S608 (text in these statements has digits, letters and separators alone)

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Key

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["WritesLabels"]

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]*")
"""What means nothing but itself in any SQL, driver or pattern, and is no separator."""
_BETWEEN_ROWS: Final = ","


class WritesLabels(ABC):
    """A dialect of an engine without temporary tables.

    All rows are one constant that is taken apart there: planners are slow on thousands of them, or
    give up. Ids of other characters than plain ones are written in hexadecimal digits.
    """

    __slots__ = ()
    name: ClassVar[str]
    whole: ClassVar[str]
    double: ClassVar[str]
    longest_statement: ClassVar[int]
    """Characters that the engine takes."""

    @abstractmethod
    def _records(self, text: str) -> str:
        """SELECT of the pieces of a constant between commas, as a column `record`."""

    @abstractmethod
    def _field(self, number: int) -> str:
        """A piece of `record` between slashes, from 1."""

    @abstractmethod
    def _from_hexadecimal(self, digits: str) -> str:
        """Text from digits of its bytes in UTF-8."""

    def labels_written(self, labels: pa.Table, *, key: Key) -> str:
        """A table of labels: id, known, label, propensity."""
        columns = [labels[name].to_pylist() for name in ("id", "known", "label", "propensity")]
        in_digits = key == "text" and not all(map(_PLAIN.fullmatch, columns[0]))
        if in_digits:
            columns[0] = [one.encode().hex() for one in columns[0]]
        rows = ("/".join(map(_text, row)) for row in zip(*columns, strict=True))
        first = self._field(1)
        if key == "integer":
            first = f"CAST({first} AS {self.whole})"
        elif in_digits:
            first = self._from_hexadecimal(first)
        listed = ", ".join(
            (
                f"{first} AS id",
                f"CAST(nullif({self._field(2)}, '') AS {self.whole}) AS known",
                f"CAST({self._field(3)} AS {self.whole}) AS label",
                f"CAST(nullif({self._field(4)}, '') AS {self.double}) AS propensity",
            )
        )
        records = self._records(f"'{_BETWEEN_ROWS.join(rows)}'")
        return f"(SELECT {listed} FROM ({records}) AS written WHERE record <> '')"


def _text(value: object) -> str:
    # The fewest digits from which the very number is read.
    return "" if value is None else str(value)
