"""What is known of tables before they are monitored: samples of columns, extent of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pumonitor.errors import InputError, did_you_mean

Kind = Literal["integer", "float", "moment", "naive", "truth", "text", "other"]

_EPOCH_UNITS: Final = (("s", 1e9, 5e9), ("ms", 1e12, 5e12), ("us", 1e15, 5e15), ("ns", 1e18, 5e18))
"""Since 2001 and until 2128."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSample:
    """Type and values of a column, from a sample.

    Attributes
    ----------
    name : str
    kind : str
        "moment" is a time with its zone, "naive" one without, or a date.
    missing : int
        Of `rows`.
    distinct : int
    rows : int
    least, greatest : float or None
        Of numbers.
    """

    name: str
    kind: Kind
    missing: int
    distinct: int
    rows: int
    least: float | None = None
    greatest: float | None = None

    @property
    def is_unique(self) -> bool:
        """Whether no value is missing or occurs twice."""
        return self.rows > 0 and self.distinct == self.rows

    @property
    def time_unit(self) -> str | None:
        """The unit in which integers are times since 1970, if they can be."""
        if self.kind != "integer" or self.least is None or self.greatest is None:
            return None
        return next(
            (
                unit
                for unit, low, high in _EPOCH_UNITS
                if low <= self.least and self.greatest <= high
            ),
            None,
        )

    @property
    def is_time(self) -> bool:
        """Whether the column can hold times."""
        return self.kind in {"moment", "naive"} or self.time_unit is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample:
    """A table: its path and its columns."""

    name: str
    relation: str
    columns: tuple[ColumnSample, ...]

    def column(self, name: str, *, option: str) -> ColumnSample:
        """The column of that name.

        Raises
        ------
        InputError
            With the nearest names, if there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        hint = did_you_mean(name, names) or f"; its columns are {', '.join(names)}"
        msg = f"{option}: {self.name} has no column {name!r}{hint}"
        raise InputError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Numbers of rows and times of both tables; seconds since 1970, naive times read as UTC.

    Attributes
    ----------
    predictions, confirmations : int
        Rows.
    matched : int
        Confirmations whose prediction is there.
    first, last : float
        Predictions.
    last_known : float
        Confirmations.
    least_score, greatest_score : float
    delays : mapping of float to float
        Quantiles of the seconds from a prediction of the earlier half to its confirmation; only
        confirmations that count.
    refused : int
        Matched confirmations that were known more than a day before their prediction was made.
    repeated : float
        Approximate share of the predictions that repeat an id.
    missing_scores, infinite_scores : int
        Predictions that are not counted: without a score, or with one that is infinite or NaN.
    """

    predictions: int
    confirmations: int
    matched: int
    first: float
    last: float
    last_known: float
    least_score: float
    greatest_score: float
    delays: dict[float, float]
    refused: int = 0
    repeated: float = 0.0
    missing_scores: int = 0
    infinite_scores: int = 0
