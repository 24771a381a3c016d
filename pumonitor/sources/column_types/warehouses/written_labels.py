"""Labels that are written into statements, where a session has no table to take them to."""

# ruff: noqa: S608 (text in these statements has digits, letters and separators alone)

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final

from pumonitor.sources.column_types.column_kinds import Key, RelationPart

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]*")
"""What means nothing but itself in any SQL, driver or pattern, and is no separator."""
_BETWEEN_ROWS: Final = ","
_PART_OF_STATEMENT: Final = 0.43
"""That labels take up: they stand in it twice where labels without prediction are looked for."""
MOST_PARTS: Final = 64
"""Each is a statement that reads the predictions of a window again."""
_BEYOND_ALL: Final = "g"
"""Sorts after every hexadecimal digit."""


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

    @abstractmethod
    def hashed(self, key: str) -> str:
        """SHA-256 of an id's text, in hexadecimal digits."""

    def parts_written(self, labels: pa.Table, *, key: Key, length: int) -> tuple[RelationPart, ...]:
        """The table in parts that statements take; none if one takes all, or they were too many.

        A part has all rows of the ids whose SHA-256 begins between two bounds, so that the service
        finds the predictions it is about. Bounds are plain digits, whatever stands in ids.

        Parameters
        ----------
        labels : Table
        key : {"integer", "text"}
        length : int
            Characters of the whole.
        """
        import numpy as np

        number = int(length // (self.longest_statement * _PART_OF_STATEMENT)) + 1
        if not 1 < number <= MOST_PARTS:
            return ()
        bounds = [f"{-(-place * 2**64 // number):016x}" for place in range(number)] + [_BEYOND_ALL]
        keys = [sha256(str(one).encode()).hexdigest() for one in labels["id"].to_pylist()]
        part = np.searchsorted(np.array(bounds[1:-1]), np.array(keys), side="right")
        hashed = self.hashed("{0}")
        return tuple(
            RelationPart(
                sql=self.labels_written(labels.filter(part == place), key=key),
                ids=f"{hashed} >= '{low}' AND {hashed} < '{high}'",
            )
            for place, (low, high) in enumerate(pairwise(bounds))
        )

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
