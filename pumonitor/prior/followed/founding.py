"""What is read of a window of a series, and on how many of the first ones a series is founded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pumonitor.prior.over_time import Cells
    from pumonitor.tables import ScoreTable

MOST_FOUNDING: Final = 120
"""A series with fewer than 20 confirmed in so many windows is never followed."""

Index = Literal["score", "auxiliary"]
"""By which score the filter reads a window: the deployed one, or an auxiliary one."""

WINDOWS_TO_FOUND: Final = 10
CONFIRMED_TO_FOUND: Final = 150
LONG_TO_FOUND: Final = 30
FEWEST_CONFIRMED_TO_FOUND: Final = 20
_FEWEST_NAMED: Final = 3
_CONFIRMED_NAMED: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowRows:
    """What is read of one window of a series.

    Attributes
    ----------
    start, end : datetime
    table : ScoreTable or None
        None where too few are confirmed for one.
    rows, confirmed : float
        All rows, and those of them that are confirmed by now.
    arrived : float
        Share of the confirmations to come that has arrived, in (0, 1].
    arrived_variance : float
        Variance of its logarithm.
    auxiliary : ScoreTable or None
        The rows by an auxiliary score of their features, or a sample of them, weighted; None where
        there is none.
    """

    start: datetime
    end: datetime
    table: ScoreTable | None
    rows: float
    confirmed: float
    arrived: float = 1.0
    arrived_variance: float = 0.0
    auxiliary: ScoreTable | None = None

    def by(self, index: Index) -> ScoreTable | None:
        """The rows by one of the two scores."""
        return self.table if index == "score" else self.auxiliary

    def cells(self, index: Index) -> Cells | None:
        """What a summariser reads of them."""
        from pumonitor.prior.over_time import Cells  # how much founds a series is told without it

        table = self.by(index)
        if table is None:
            return None
        cells = Cells.of_table(table)
        if index == "score":
            return cells
        # Of a sample, and the counts are those of all rows.
        return replace(cells, total=self.rows, confirmed=self.confirmed)


def founding_windows(windows: Sequence[WindowRows], *, at_least: int = 0) -> int | None:
    """How many windows, from the first on, a series is founded on.

    Where positives and negatives score is learned from them, and how much windows differ by
    themselves. So they are ten or more with 150 confirmed in all; a series with few of these takes
    30, and as many more as it needs for 20. A reference that somebody named is taken from three
    windows with 30 confirmed on: what is learned of them is less sure, and intervals are wider.

    Parameters
    ----------
    windows : sequence of WindowRows
        In order of time, their labels mature.
    at_least : int
        Windows of the monitor's reference, which all count.

    Returns
    -------
    int or None
        None while there are too few.

    Examples
    --------
    >>> from datetime import timedelta
    >>> day = [datetime(2026, 3, 1) + timedelta(days=at) for at in range(31)]
    >>> def days(confirmed):
    ...     return [WindowRows(start=one, end=after, table=None, rows=1000, confirmed=confirmed)
    ...             for one, after in zip(day, day[1:])]
    >>> founding_windows(days(12)), founding_windows(days(40)), founding_windows(days(1))
    (13, 10, 30)
    >>> founding_windows(days(0.5)) is None
    True
    >>> founding_windows(days(12), at_least=3), founding_windows(days(9), at_least=3)
    (3, 17)
    """
    import numpy as np  # words about foundings are read without it

    total = np.cumsum([one.confirmed for one in windows])
    number = np.arange(1, len(windows) + 1)
    enough = (number >= WINDOWS_TO_FOUND) & (total >= CONFIRMED_TO_FOUND)
    enough |= (number >= LONG_TO_FOUND) & (total >= FEWEST_CONFIRMED_TO_FOUND)
    if at_least >= _FEWEST_NAMED:
        enough |= (number == at_least) & (total >= _CONFIRMED_NAMED)
    enough &= number >= at_least
    return int(number[enough][0]) if enough.any() else None
