"""Sizes of the changes, with intervals that include the usual variation between windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, Literal, Protocol

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.causes.named import Size
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.variation import beyond_chance, windows_apart

FEWEST_LABELED: Final = 5
"""Fewest confirmed positives from which the distribution of their scores is used."""


class Level(Protocol):
    """An estimate of AUC."""

    @property
    def value(self) -> float:
        """The estimate."""


LevelOf = Callable[[Literal["before", "now"], float], Level | None]
"""Returns the AUC that the results show for a period at a class prior, None if they have none."""


def auc_size(
    before: Period,
    now: Period,
    priors: tuple[float, float],
    *,
    confidence_level: float,
    level_of: LevelOf | None,
    prior_error: float = 0.0,
    label_purity: float = 1.0,
) -> tuple[Size, float]:
    """Change of AUC between two periods, each at its own class prior.

    An AUC above 1 by no more than its sampling error is set to 1.

    Parameters
    ----------
    before, now : Period
    priors : (float, float)
        Class priors of the two periods.
    confidence_level : float
    level_of : callable or None
        Returns the AUC that the results show; without it AUC is estimated from the counts.
    prior_error : float
        Standard error of the new class prior, given that of the reference.
    label_purity : float
        Share of the confirmed rows that are positive; above both class priors.

    Returns
    -------
    Size
    float
        The larger AUC if one is above 1 beyond its sampling error, which is impossible; else NaN.
    """
    # Student's t: the spread of few confirmed positives is itself uncertain.
    freedom = min(before.labeled.sum(), now.labeled.sum()) - 1
    reach = float(special.stdtrit(freedom, 0.5 + 0.5 * confidence_level))
    levels, directs, errors, impossible = [], [], [], math.nan
    periods: tuple[tuple[Literal["before", "now"], Period, float, float], ...] = (
        ("before", before, priors[0], 0.0),
        ("now", now, priors[1], prior_error),
    )
    for name, period, prior, error_of_prior in periods:
        number, mean, spread = _placements(period.labeled.sum(axis=0), period.rows.sum(axis=0))
        # P(confirmed above any row) is (1 - gap) / 2 + gap AUC.
        gap = label_purity - prior
        by_prior = (mean - 0.5) / gap**2 * error_of_prior
        errors.append(math.hypot(math.sqrt(spread / number) / gap, by_prior))
        directs.append(0.5 + (mean - 0.5) / gap)
        shown = None if level_of is None else level_of(name, prior)
        levels.append(min(directs[-1] if shown is None else shown.value, 1.0))
        # A little above 1 comes by chance where the ranking is nearly perfect.
        if directs[-1] - reach * errors[-1] > 1:
            impossible = max(directs)
    if not math.isnan(impossible):
        levels = directs
    between = _ranking_between(before) * windows_apart(before, now)
    between /= (label_purity - priors[0]) ** 2
    change, error = levels[1] - levels[0], math.sqrt(errors[0] ** 2 + errors[1] ** 2 + between)
    # AUC is at most 1, so it rose at most by what it was below 1 at the lower end before.
    most = 1.0 - levels[0] + reach * errors[0]
    size = Size(
        before=levels[0],
        now=levels[1],
        change=change,
        low=change - reach * error,
        high=max(min(change + reach * error, most), change),
    )
    return size, impossible


def labels_needed(
    before: Period, class_prior: float, *, change: float, reach: float, label_purity: float = 1.0
) -> int:
    """Confirmed positives needed for a change of AUC by `change` to exceed `reach` errors."""
    _, _, spread = _placements(before.labeled.sum(axis=0), before.rows.sum(axis=0))
    return math.ceil(spread * (reach / (change * (label_purity - class_prior))) ** 2)


def confirmed_size(before: Period, now: Period, variation: float, *, reach: float) -> Size:
    """Ratio of the confirmed positives' share of all rows, now over before.

    `variation` is the usual standard deviation between windows, in logs.
    """
    counts = [(float(one.labeled.sum()), float(one.rows.sum())) for one in (before, now)]
    shares = [labeled / rows for labeled, rows in counts]
    log_ratio = math.log((counts[1][0] + 0.5) / counts[1][1]) - math.log(
        (counts[0][0] + 0.5) / counts[0][1]
    )
    error = math.sqrt(sum(1 / (labeled + 0.5) for labeled, _ in counts) + variation**2)
    ratio = shares[1] / shares[0] if shares[0] else 1.0
    return Size(
        before=shares[0],
        now=shares[1],
        change=ratio,
        low=min(math.exp(log_ratio - reach * error), ratio),
        high=math.exp(log_ratio + reach * error),
    )


def score_size(before: Period, now: Period, reach: float) -> Size:
    """Change of the mean score, in standard deviations of the reference's normalised scores."""
    rows = before.rows.sum(axis=0)
    scale = special.ndtri(
        np.clip((np.cumsum(rows) - 0.5 * rows) / rows.sum(), 0.5 / rows.sum(), 1 - 0.5 / rows.sum())
    )
    means, variance = [], 0.0
    for period in (before, now):
        some = period.rows.sum(axis=0)
        means.append(float((some * scale).sum() / some.sum()))
        variance += float((some * (scale - means[-1]) ** 2).sum() / some.sum() ** 2)
    sizes = before.rows.sum(axis=1)
    if (sizes > 0).sum() > 1:
        own = (before.rows @ scale)[sizes > 0] / sizes[sizes > 0]
        variance = max(variance, float(np.var(own, ddof=1)) * windows_apart(before, now))
    change, error = means[1] - means[0], math.sqrt(variance)
    return Size(
        before=means[0],
        now=means[1],
        change=change,
        low=change - reach * error,
        high=change + reach * error,
    )


def delay_size(before: Period, now: Period) -> Size | None:
    """Change of the median label delay in seconds; None with fewer than five known delays."""
    medians = []
    for period in (before, now):
        inside = period.arrivals[: len(period.delay_edges)]
        if inside.sum() < FEWEST_LABELED:
            return None
        shares = np.concatenate([[0.0], np.cumsum(inside) / inside.sum()])
        ends = np.concatenate([[0.0], period.delay_edges])
        rank = 0.5 * inside.sum()
        reach = math.sqrt(rank / 2) / inside.sum()
        medians.append([float(np.interp(0.5 + step, shares, ends)) for step in (-reach, 0, reach)])
    (low_then, then, high_then), (low_now, today, high_now) = medians
    change = today - then
    return Size(
        before=then,
        now=today,
        change=change,
        low=change - 2 * math.hypot(today - low_now, high_then - then),
        high=change + 2 * math.hypot(high_now - today, then - low_then),
    )


def _placements(labeled: FloatArray, rows: FloatArray) -> tuple[float, float, float]:
    """Number, mean and variance of the placements: shares of all rows below each labeled row."""
    placement = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    number = float(labeled.sum())
    mean = float((labeled * placement).sum() / number)
    # Keeps the variance of a few placements above 0 when they agree by chance.
    spread = float((labeled * (placement - mean) ** 2).sum() + 1 / 12) / (number + 1)
    return number, mean, spread


def _ranking_between(before: Period) -> float:
    """Variance of AUL between windows of the reference, beyond sampling error."""
    found = [
        _placements(labeled, rows)
        for labeled, rows in zip(before.labeled, before.rows, strict=True)
        if labeled.sum() >= FEWEST_LABELED
    ]
    _, _, spread = _placements(before.labeled.sum(axis=0), before.rows.sum(axis=0))
    values = np.array([mean for _, mean, _ in found])
    return beyond_chance(values, np.sqrt(spread / np.array([number for number, _, _ in found])))
