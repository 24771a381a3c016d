"""From which level of the class prior a series is followed: from its windows, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any, Final

from pumonitor.prior.estimation import read_together
from pumonitor.prior.followed.founding import Index, WindowRows
from pumonitor.prior.given import resolve_class_prior
from pumonitor.prior.over_time import Level, auc_against_all
from pumonitor.prior.over_time.level import MOST
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

TAILS: Final = (0.025, 0.5, 0.975)
"""Low, value and high of what is told of a class prior."""

_MOST_CELLS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelOrigin:
    """A level of the class prior, and where it comes from.

    Attributes
    ----------
    level : Level
        Of the class prior over the purity of labels: of what all rows have of the kind of rows
        that get confirmed.
    told : mapping
        Its "source" ("given", or the method that estimated it), its numbers, and the windows or the
        period that it is of, as plain JSON values.
    """

    level: Level
    told: Mapping[str, Any]


def estimated_levels(
    of_series: Sequence[Sequence[WindowRows]],
    *,
    method: str,
    label_purity: float,
    seeds: Sequence[int],
    index: Index = "score",
) -> list[LevelOrigin | None]:
    """Of several series, each from the scores of its windows taken together; None without any.

    Parameters
    ----------
    of_series : sequence of sequence of WindowRows
        Searched for at once, in a fraction of the time.
    method : str
        Of `pumonitor.prior.METHODS`, or "auto".
    label_purity : float
    seeds : sequence of int
        One for each series.
    index : {"score", "auxiliary"}
    """
    pooled = [_pooled(windows, index) for windows in of_series]
    read_together([table for table in pooled if table is not None], method=method)
    return [
        None
        if table is None
        else _level_of(table, windows, method=method, label_purity=label_purity, rng=seed)
        for table, windows, seed in zip(pooled, of_series, seeds, strict=True)
    ]


def _pooled(windows: Sequence[WindowRows], index: Index) -> ScoreTable | None:
    tables = [table for table in (one.by(index) for one in windows) if table is not None]
    return reduce(add, map(_at_middles, tables)).compress(_MOST_CELLS) if tables else None


def _level_of(
    together: ScoreTable,
    windows: Sequence[WindowRows],
    *,
    method: str,
    label_purity: float,
    rng: int,
) -> LevelOrigin | None:
    try:
        found = resolve_class_prior(
            method,
            together,
            scenario="single-training-set",
            label_purity=label_purity,
            confidence_level=0.95,
            rng=rng,
        )
    except ValueError:
        return None
    share = float(together.labeled_mass.sum() / _all_rows(together))
    level = _estimated(together, found, share=share, label_purity=label_purity)
    if level is None:
        return None
    # A level goes further down than what was estimated.
    low, value, high = (label_purity * float(end) for end in level.quantiles(TAILS))
    told = _told(method, replace(found, value=value, low=low, high=high), windows)
    return LevelOrigin(level=level, told=told)


def _at_middles(table: ScoreTable) -> ScoreTable:
    """Rows at the middle of their cell: cells of several windows do not melt into one then."""
    middle = 0.5 * (table.lower + table.upper)
    return replace(table, lower=middle, upper=middle)


def given_level(
    given: ClassPriorEstimate,
    windows: Sequence[WindowRows],
    *,
    start: datetime,
    end: datetime,
    label_purity: float,
) -> LevelOrigin:
    """Known from elsewhere of a period, and followed from these windows on."""
    return LevelOrigin(
        level=Level.given(*given_ends(given, label_purity)),
        told=_told("given", given, windows) | {"start": start.isoformat(), "end": end.isoformat()},
    )


def given_ends(given: ClassPriorEstimate, label_purity: float) -> list[float]:
    """Value, low and high of a class prior, as shares of the kind of rows that get confirmed."""
    # Of the kind of rows that get confirmed there are no more than all.
    return [min(end / label_purity, MOST) for end in (given.value, given.low, given.high)]


def _told(source: str, found: ClassPriorEstimate, windows: Sequence[WindowRows]) -> dict[str, Any]:
    return {
        "source": source,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "start": windows[0].start.isoformat(),
        "end": windows[-1].end.isoformat(),
        "windows": len(windows),
        "confirmed": sum(one.confirmed for one in windows),
    }


def _estimated(
    table: ScoreTable, found: ClassPriorEstimate, *, share: float, label_purity: float
) -> Level | None:
    most = 1 - 1e-6
    value = min(found.value / label_purity, most)
    low = min(max(found.low / label_purity, share, 1e-9), value)
    high = min(max(found.high / label_purity, value), most)
    if not low > 0 or not share < 1:
        return None
    rows = table.labeled_mass + table.unlabeled + table.negative
    auc = auc_against_all(table.labeled_mass, rows)
    return Level.estimated(value, low, high, confirmed_share=share, auc=auc)


def _all_rows(table: ScoreTable) -> float:
    return float(table.labeled_mass.sum() + table.unlabeled.sum() + table.negative.sum())
