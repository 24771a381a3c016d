"""What audits of all rows say of a segment with more positives than the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from benchmarks.audits.rows import Extent, Row
from benchmarks.audits.runs import Outcome, intervals
from benchmarks.audits.windows import METRICS, Cell, Window, designed, window
from pumonitor.audit.carried import MONTH, PastAudit
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.segments import audits_of_segment, segment_counts
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

__all__ = ["of_segments", "segment_runs"]

_FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SHARE: Final = 0.2


def segment_runs(
    cell: Cell, *, runs: int, share: float = _SHARE, favoured: float = 1.0
) -> tuple[Outcome, float, float]:
    """A segment whose class prior is twice that of the others.

    Parameters
    ----------
    cell : Cell
        Of all rows together.
    runs : int
    share : float
        Of the rows, in the segment.
    favoured : float
        How many times as high the label frequency of the segment is as that of the others.

    Returns
    -------
    (Outcome, float, float)
        Of the segment, its median number of cases, and how often it was refused.
    """
    prior = cell.class_prior / (1 + share)
    covered, width = defaultdict(list), defaultdict(list)
    cases, refused = [], 0
    for run in range(runs):
        rng = np.random.default_rng([run, 8])
        off = cell.planned_off if run % 2 else 1 / cell.planned_off
        rows, inside = _window(cell, prior, share, favoured, rng)
        design = designed(replace(cell, planned_off=off), rows)
        whole, own = _reviewed(design, rows, inside, rng)
        audit = PastAudit(
            name="", model_version="", start=_FIRST, end=_FIRST + MONTH, fair="check", counts=whole
        )
        of_segment = Window(
            score=rows.score[inside],
            positive=rows.positive[inside],
            confirmed=rows.confirmed[inside],
            threshold=rows.threshold,
        )
        table = ScoreTable.from_arrays(
            of_segment.confirmed.astype(int), of_segment.score, thresholds=[rows.threshold]
        )
        cases.append(int(own[0].sum()))
        try:
            part = segment_counts(
                audit, table, threshold=rows.threshold, decided=own[0], positive=own[1]
            )
        except InputError:
            refused += 1
            continue
        carried = audits_of_segment([part])
        drawn = estimate_audit(part.counts, believed=carried.before[0]).metrics()
        truth = of_segment.truth()
        for name, (low, high) in intervals(drawn).items():
            covered[name].append(low - 1e-12 <= truth[name] <= high + 1e-12)
            width[name].append(high - low)
    outcome = Outcome(
        covered={name: float(np.mean(covered[name])) for name in METRICS},
        width={name: float(np.median(width[name])) for name in METRICS},
    )
    return outcome, float(np.median(cases)), refused / runs


def _window(
    cell: Cell, prior: float, share: float, favoured: float, rng: np.random.Generator
) -> tuple[Window, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """All rows in ascending order, and which of them are of the segment."""
    frequency = cell.label_frequency
    parts = [
        window(replace(cell, class_prior=prior), rng),
        window(
            replace(cell, class_prior=2 * prior, label_frequency=min(favoured * frequency, 0.9)),
            rng,
        ),
    ]
    count = len(parts[0].score)
    size = round(share * count)
    kept = [np.sort(rng.choice(count, some, replace=False)) for some in (count - size, size)]
    columns = {
        name: np.concatenate([getattr(one, name)[at] for one, at in zip(parts, kept, strict=True)])
        for name in ("score", "positive", "confirmed")
    }
    order = np.argsort(columns["score"], kind="stable")
    inside = np.repeat([False, True], [count - size, size])[order]
    threshold = window(cell, np.random.default_rng(0)).threshold
    return (
        Window(**{name: one[order] for name, one in columns.items()}, threshold=threshold),
        inside,
    )


def _reviewed(
    design: AuditDesign,
    rows: Window,
    inside: np.ndarray[tuple[int], np.dtype[np.bool_]],
    rng: np.random.Generator,
) -> tuple[AuditCounts, np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """The audit of all rows, and decided and positive cases of the segment by bin."""
    place = design.bins.bin_of(rows.score)
    found, own = (np.zeros((2, len(design.planned)), dtype=np.int64) for _ in range(2))
    for at, cases in enumerate(design.planned):
        drawn = rng.choice(np.flatnonzero((place == at) & ~rows.confirmed), cases, replace=False)
        found[:, at] = cases, rows.positive[drawn].sum()
        own[:, at] = inside[drawn].sum(), (rows.positive & inside)[drawn].sum()
    return AuditCounts.of(design.bins, decided=found[0], positive=found[1]), own


def of_segments(extent: Extent) -> Iterator[Row]:
    """11: a fifth of the rows, with twice the class prior of the others."""
    for name in extent.sets:
        for favoured in (1.0, 1.5):
            cell = Cell(name=name)
            found, cases, refused = segment_runs(cell, runs=extent.runs, favoured=favoured)
            shares = ", ".join(f"{one} {100 * found.covered[one]:.0f}" for one in METRICS)
            widths = ", ".join(f"{one} {found.width[one]:.2g}" for one in METRICS)
            yield Row(
                what=f"{cell}, label frequency of the segment {favoured:g} times that of others",
                measured=f"{shares}; widths {widths}; {cases:.0f} of the cases are of it; refused "
                f"in {refused:.0%}",
                claimed="90% each",
            )
