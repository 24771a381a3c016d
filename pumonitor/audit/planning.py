"""How wide the intervals of an audit will be, before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.allocation import design_audit, expected_shares
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore
from pumonitor.audit.metrics import metric_draws

AUDITS: Final = 15


def planned_widths(
    design: AuditDesign,
    *,
    label_frequency: float,
    metrics: Sequence[str] = ("f1",),
    believed: FrequencyByScore = UNKNOWN,
    audits: int = AUDITS,
    seed: int = 0,
) -> Mapping[str, float]:
    """Median width of the 95% intervals over simulated audits of this design.

    Wrong as far as today's estimate of c is: with twice as many hidden positives as planned the
    intervals of shares are wider.

    Parameters
    ----------
    design, metrics, believed, audits, seed
        As of `simulated_widths`.
    label_frequency : float
        Today's estimate of c.
    """
    widths = simulated_widths(
        design,
        label_frequencies=(label_frequency,) * audits,
        metrics=metrics,
        believed=believed,
        seed=seed,
    )
    return {name: float(np.median(each)) for name, each in widths.items()}


def simulated_widths(
    design: AuditDesign,
    *,
    label_frequencies: Sequence[float],
    lifted: Sequence[float] = (),
    metrics: Sequence[str] = ("f1",),
    believed: FrequencyByScore = UNKNOWN,
    seed: int = 0,
) -> Mapping[str, FloatArray]:
    """Widths of the 95% intervals of simulated audits of this design, by metric.

    Parameters
    ----------
    design : AuditDesign
    label_frequencies : sequence of float
        c of each of them. An audit takes about a tenth of a second.
    lifted : sequence of float, optional
        How many times as many hidden positives as that says each has below the threshold, as where
        what is flagged is confirmed more often; 1 unless given.
    metrics : sequence of str
    believed : FrequencyByScore
        As in `estimate_audit`.
    seed : int
    """
    rng = np.random.default_rng(seed)
    widths: dict[str, list[float]] = {name: [] for name in metrics}
    times = lifted or (1.0,) * len(label_frequencies)
    for run, (frequency, more) in enumerate(zip(label_frequencies, times, strict=True)):
        share = expected_shares(design.bins, label_frequency=frequency, lifted=more)
        found = rng.binomial(design.planned, share)
        counts = AuditCounts.of(design.bins, decided=design.planned, positive=found)
        drawn = estimate_audit(counts, believed=believed, draws=1000, seed=seed + run).metrics()
        for name in metrics:
            low, high = np.nanquantile(drawn[name], [0.025, 0.975])
            widths[name].append(float(high - low))
    return {name: np.array(each) for name, each in widths.items()}


def simple_widths(
    bins: ScoreBins, *, cases: int, label_frequency: float, metrics: Sequence[str] = ("f1",)
) -> Mapping[str, float]:
    """Width of the 95% intervals of cases drawn from all rows alike and read without confirmations.

    By the asymptotic variance, which is too narrow where few positives are found. What is
    expected in each bin is what the plan expects; cases are post-stratified at the threshold, as
    anybody would.

    Parameters
    ----------
    bins : ScoreBins
    cases : int
    label_frequency : float
        Today's estimate of c.
    metrics : sequence of str

    Notes
    -----
    With g_b the derivative of the metric in the positives of bin b, the error of one case is the
    variance of N g_b y within a side of the threshold, y being 1 for a positive.
    """
    rows = bins.rows.astype(float)
    hidden = expected_shares(bins, label_frequency=label_frequency, lifted=1.0)
    positives = bins.labeled + hidden * bins.unlabeled
    step = 1e-4 * positives.sum()
    moved = step * np.eye(len(rows))
    up, down = (metric_draws(bins, positives + way * moved) for way in (1, -1))
    widths = {}
    for name in metrics:
        slope = rows.sum() * (up[name] - down[name]) / (2 * step)
        variance = 0.0
        for side in (bins.above, ~bins.above):
            if not side.any():
                continue
            size = rows[side].sum()
            mean = float(slope[side] @ positives[side] / size)
            square = float(slope[side] ** 2 @ positives[side] / size)
            variance += size / rows.sum() * (square - mean**2)
        # No interval is wider than the metric's range.
        whole = 2.0 if name == "mcc" else 1.0
        widths[name] = min(float(2 * 1.96 * np.sqrt(variance / cases)), whole)
    return widths


def widths_by_cases(
    bins: ScoreBins,
    *,
    cases: Sequence[int],
    label_frequency: float,
    metrics: Sequence[str] = ("f1",),
    believed: FrequencyByScore = UNKNOWN,
    audits: int = AUDITS,
    above: float | None = None,
) -> list[dict[str, float | str]]:
    """Widths of audits of several sizes, a mapping a metric and size, for a chart.

    Parameters
    ----------
    bins : ScoreBins
    cases : sequence of int
        Sizes; those beyond the unconfirmed rows are left out.
    label_frequency, metrics, believed, audits
        As in `planned_widths`.
    above : float, optional
        As in `design_audit`.
    """
    found: list[dict[str, float | str]] = []
    for size in cases:
        if size > int(bins.unlabeled.sum()):
            continue
        design = design_audit(
            bins, cases=size, label_frequency=label_frequency, metrics=metrics, above=above
        )
        ours = planned_widths(
            design,
            label_frequency=label_frequency,
            metrics=metrics,
            believed=believed,
            audits=audits,
        )
        simple = simple_widths(bins, cases=size, label_frequency=label_frequency, metrics=metrics)
        found += [
            {"metric": name, "cases": size, "width": ours[name], "simple": simple[name]}
            for name in metrics
        ]
    return found
