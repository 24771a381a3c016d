"""What warehouses have in common: times in text taken apart by places, division without rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from pumonitor.sources.column_types.dialects import WITH_OFFSET, WITHOUT_OFFSET, Dialect

_FRACTION: Final = "[.][0-9]+"
_OFFSET: Final = "[+-][0-9]{2}(:?[0-9]{2})?$"
_MINUTE: Final = 60_000_000


class Warehouse(Dialect):
    """A dialect that reads ISO 8601 text piece by piece.

    Each warehouse reads times in text in its own way: to the millisecond, rounded, in the zone of
    the session, or not at all without seconds. They agree on whole seconds of a local time; what
    is finer, and the offset, are whole numbers that are added.
    """

    __slots__ = ()

    def divided(self, number: str, by: int) -> str:
        """Whole-number division: nothing is left over, whether or not a slash keeps fractions."""
        return f"CAST(({number} - {self.remainder(number, by)}) / {by} AS {self.whole})"

    def remainder(self, number: str, by: int) -> str:
        """What division leaves over, by name: drivers may take a percent sign for a parameter."""
        return f"mod({number}, {by})"

    def given(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A SELECT of rows that are written out, without VALUES, which is not everywhere."""
        selects = (
            ", ".join(f"{value} AS {name}" for value, name in zip(row, names, strict=True))
            for row in rows
        )
        return " UNION ALL ".join(f"SELECT {one}" for one in selects)

    @abstractmethod
    def _matches(self, raw: str, pattern: str) -> str:
        """Whether the whole text is of a pattern."""

    @abstractmethod
    def _first(self, raw: str, pattern: str) -> str:
        """The first piece of the text that is of a pattern; null if none is."""

    @abstractmethod
    def _whole(self, digits: str) -> str:
        """Digits as a whole number of 64 bits; null of null."""

    @abstractmethod
    def _seconds(self, text: str) -> str:
        """Seconds of 'YYYY-MM-DD HH:MM:SS'; null if there is no such time, as on 30 February."""

    def clock_with_offset(self, raw: str) -> str:
        """Microseconds of ISO 8601 text that says its offset; null for other text."""
        moment = f"{self._local(raw)} - {self._offset(raw)}"
        return f"CASE WHEN {self._matches(raw, WITH_OFFSET)} THEN {moment} END"

    def clock_without_offset(self, raw: str) -> str:
        """Local microseconds of ISO 8601 text without an offset; null for other text."""
        return f"CASE WHEN {self._matches(raw, WITHOUT_OFFSET)} THEN {self._local(raw)} END"

    def _local(self, raw: str) -> str:
        # Seconds may be left out, and the time of day of a date. A colon stands alone: with digits
        # after it SQLAlchemy would take it for a parameter.
        seconds = f"CASE WHEN substr({raw}, 17, 1) = ':' THEN substr({raw}, 18, 2) ELSE '00' END"
        clock = (
            f"CASE WHEN length({raw}) = 10 THEN '00:00:00' "
            f"ELSE concat(substr({raw}, 12, 5), concat(':', {seconds})) END"
        )
        text = f"concat(substr({raw}, 1, 10), concat(' ', {clock}))"
        # Cut off after six digits, as every engine is made to.
        digits = f"substr(concat({self._first(raw, _FRACTION)}, '000000'), 2, 6)"
        return f"{self._seconds(text)} * 1000000 + coalesce({self._whole(digits)}, 0)"

    def _offset(self, raw: str) -> str:
        offset = self._first(raw, _OFFSET)
        hours = self._whole(f"substr({offset}, 2, 2)")
        minutes = self._whole(f"substr({offset}, length({offset}) - 1, 2)")
        sign = f"CASE WHEN substr({offset}, 1, 1) = '-' THEN -1 ELSE 1 END"
        # Without one the text ends with Z.
        both = (
            f"coalesce({hours}, 0) * 60 + CASE WHEN length({offset}) > 3 THEN {minutes} ELSE 0 END"
        )
        return f"{_MINUTE} * ({sign}) * ({both})"
