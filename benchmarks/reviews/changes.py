"""What changed between two periods with a queue and complaints, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from benchmarks.reviews.windows import Cell, Window, draw_window
from pumonitor._reviewed import ReviewedRows
from pumonitor.monitor.rules.causes.by_reviews import cause_by_reviews
from pumonitor.reviews.bins import cuts_of_queue, kinds_of_rows, labels_of_kinds
from pumonitor.reviews.counts import KINDS
from pumonitor.reviews.periods import PeriodChange, compare_periods
from pumonitor.tables import ScoreTable

__all__ = ["CHANGES", "Change", "changed_periods", "judge_changes", "table_of"]

_BEFORE, _NOW = 6, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A cell before, what is another one since, and what should be said.

    Attributes
    ----------
    name : str
    since : mapping of str to object
        Fields of `Cell`.
    kinds : frozenset of str
        What changed, in the words of causes.
    spread : float
        Standard deviation of the log class prior from window to window.
    """

    name: str
    since: dict[str, Any] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    spread: float = 0.0


def _only(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


CHANGES: Final = (
    Change(name="nothing"),
    Change(name="weeks that differ", spread=0.2),
    Change(name="capacity doubled", since={"reviewed": 0.04}),
    Change(name="capacity halved", since={"reviewed": 0.01}),
    Change(name="a third of the flagged declined", since={"declined": 0.3}),
    Change(name="class prior doubled", since={"class_prior": 0.02}, kinds=_only("class_prior")),
    Change(name="class prior halved", since={"class_prior": 0.005}, kinds=_only("class_prior")),
    Change(name="complaints halved", since={"complains": 0.25}, kinds=_only("confirmed_share")),
    Change(name="ranking broken", since={"model": "0.85"}, kinds=_only("ranking")),
    Change(
        name="ranking broken, capacity doubled",
        since={"model": "0.85", "reviewed": 0.04},
        kinds=_only("ranking"),
    ),
    Change(
        name="class prior doubled, complaints halved",
        since={"class_prior": 0.02, "complains": 0.25},
        kinds=_only("class_prior", "confirmed_share"),
    ),
)


def table_of(window: Window) -> ScoreTable:
    """The window's table as a monitor stores it, with rows by kind in each cell."""
    kinds = kinds_of_rows(window.complained, window.reviews)
    cuts = cuts_of_queue(window.score, window.reviews)
    begins = (window.threshold, *cuts)
    known = labels_of_kinds(kinds)
    table = ScoreTable.from_arrays(known, window.score, thresholds=begins)
    table = table.compress(600, thresholds=begins)
    cell = np.searchsorted(table.lower, window.score, side="right") - 1
    size = len(table) * len(KINDS)
    counted = np.bincount(kinds * len(table) + cell, minlength=size).astype(float)
    reviewed = ReviewedRows(kinds=counted.reshape(len(KINDS), len(table)), cuts=cuts)
    return replace(table, reviewed=reviewed)


def changed_periods(change: Change, cell: Cell, *, seed: int, run: int) -> PeriodChange:
    """What is said of six windows before a change and three since."""
    rng = np.random.default_rng([seed, run])

    def drawn(setting: Cell) -> Window:
        prior = setting.class_prior * float(np.exp(change.spread * rng.standard_normal()))
        return draw_window(replace(setting, class_prior=prior), rng)

    before = [drawn(cell) for _ in range(_BEFORE)]
    threshold = before[0].threshold
    now = [drawn(replace(cell, **change.since)) for _ in range(_NOW)]
    tables = [table_of(replace(window, threshold=threshold)) for window in (*before, *now)]
    return compare_periods(
        tables[:_BEFORE], tables[_BEFORE:], threshold=threshold, blocks=cell.blocks, seed=run
    )


def judge_changes(*, runs: int, seed: int) -> Iterator[str]:
    """A line a change: how often all of it was named, anything else, and nothing."""
    total: Counter[str] = Counter()
    for blocks in (True, False):
        for change in CHANGES:
            cell = Cell(blocks=blocks)
            told: Counter[str] = Counter()
            for run in range(runs):
                changed = changed_periods(change, cell, seed=seed, run=run)
                named = set(cause_by_reviews(changed, windows=_NOW).kinds)
                told["wrong"] += bool(named - change.kinds)
                told["right"] += named == change.kinds
                told["open"] += not named and bool(change.kinds)
            if change.kinds:
                total.update({name: told[name] for name in ("right", "open")} | {"runs": runs})
            total.update({"wrong": told["wrong"], "all": runs})
            shown = ", ".join(
                f"{name} {told[name] / runs:.2f}" for name in ("right", "wrong", "open")
            )
            yield f"{'blocks' if blocks else 'does not block'}, {change.name}: {shown}"
    yield (
        f"right in {total['right'] / total['runs']:.3f} of what changed, open in "
        f"{total['open'] / total['runs']:.3f}; wrong in {total['wrong'] / total['all']:.3f} of all"
    )
