"""Which of the two an audit before a change and one after it name: class prior or confirmations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from benchmarks.audits.rows import Extent, Row
from benchmarks.audits.windows import Cell, audited, designed, window
from pumonitor.audit.carried import MONTH, PastAudit
from pumonitor.audit.compared import audits_around, compare_audits

__all__ = ["Change", "named", "world_or_confirmations"]

_FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """By how much the class prior and the label frequency are multiplied from one month on."""

    class_prior: float = 1.0
    label_frequency: float = 1.0

    @property
    def right(self) -> str:
        """What an answer that is right names."""
        if self.class_prior != 1:
            return "class_prior" if self.label_frequency == 1 else "both"
        return "neither" if self.label_frequency == 1 else "label_frequency"


def named(
    cell: Cell, change: Change, *, before: int, after: int, runs: int, months: float = 1.0
) -> Counter[str]:
    """How often each answer is given, "" where it cannot be told.

    Parameters
    ----------
    cell : Cell
    change : Change
    before, after : int
        Audits of successive months on either side of the change.
    runs : int
    months : float
        From one audit to the next.
    """
    found: Counter[str] = Counter()
    changed = replace(
        cell,
        class_prior=cell.class_prior * change.class_prior,
        label_frequency=cell.label_frequency * change.label_frequency,
    )
    for run in range(runs):
        rng = np.random.default_rng([run, 7])
        off = cell.planned_off if run % 2 else 1 / cell.planned_off
        past = []
        threshold = None
        for month in range(before + after):
            rows = window(cell if month < before else changed, rng)
            threshold = rows.threshold if threshold is None else threshold
            rows = replace(rows, threshold=threshold)
            start = _FIRST + month * months * MONTH
            past.append(
                PastAudit(
                    name=str(month),
                    model_version="",
                    start=start,
                    end=start + MONTH,
                    fair="check",
                    counts=audited(designed(replace(cell, planned_off=off), rows), rows, rng),
                )
            )
        around = audits_around(past, since=past[before].start)
        found[compare_audits(around).changed or ""] += 1
    return found


_JUMPS: Final = (1.4, 1.7, 1 / 1.4, 1 / 1.7)


def world_or_confirmations(extent: Extent) -> Iterator[Row]:
    """9: a change of the class prior or of confirmations, named by the audits around it."""
    for before, after in ((1, 1), (6, 1), (6, 3)):
        for jump in _JUMPS:
            sums: dict[str, Counter[str]] = {}
            for name in extent.sets:
                for change in (Change(class_prior=jump), Change(label_frequency=jump)):
                    counted = named(
                        Cell(name=name), change, before=before, after=after, runs=extent.runs
                    )
                    sums.setdefault(change.right, Counter()).update(counted)
            for right, counted in sums.items():
                wrong = "label_frequency" if right == "class_prior" else "class_prior"
                yield Row(
                    what=f"{before} audits before and {after} after {right} x {jump:.2g}",
                    measured=_shares(counted, right=right, wrong=wrong),
                    claimed="wrong at most 5%",
                )
        unchanged: Counter[str] = Counter()
        for name in extent.sets:
            unchanged.update(
                named(Cell(name=name), Change(), before=before, after=after, runs=extent.runs)
            )
        yield Row(
            what=f"{before} audits before and {after} after no change",
            measured=_each(unchanged),
            claimed="a change named in at most 5%",
        )


def _shares(counted: Counter[str], *, right: str, wrong: str) -> str:
    total = counted.total()
    return (
        f"right {counted[right] / total:.0%}, wrong {counted[wrong] / total:.0%}, "
        f"both {counted['both'] / total:.0%}, neither {counted['neither'] / total:.0%}, "
        f"not told {counted[''] / total:.0%} of {total}"
    )


def _each(counted: Counter[str]) -> str:
    total = counted.total()
    return ", ".join(f"{name or 'not told'} {n / total:.0%}" for name, n in counted.most_common())
