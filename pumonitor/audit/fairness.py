"""Whether confirmed positives are a fair sample: the likelihood ratio of beta = gamma = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor._entities import draw_in_groups
from pumonitor.audit.counts import AuditCounts
from pumonitor.text import percent_text, times_text

SIMULATIONS: Final = 399
FAVOURED: Final = 3.0
"""How many times as often high scores are confirmed, where it is told how often that is seen."""
_POWER_LEVEL: Final = 0.05
_POWER_SIMULATIONS: Final = 199
_MOST_CONFIRMED: Final = 0.98
CONFIRMED_EXPONENT: Final = 0.05
"""Of p e in the penalty: how much of a confirmation an empty bin is taken to hold."""
NEGATIVE_EXPONENT: Final = 0.2
"""Of 1 - p: bins without a negative among their verdicts may have next to none."""
_GRID: Final = 11
_REFINEMENTS: Final = 3
_ROUNDING: Final = 0.05
"""By how much a ratio may be off, since the highest point is sought on grids."""

_MANY: Final = 100
_WIDTH: Final = np.array([2.5, 4.0])  # of the first grid, in level and slope


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """A test of whether the label frequency follows the score.

    Attributes
    ----------
    p_value : float
        Share of simulated audits with fair labels whose likelihood ratio is as large.
    favoured : float
        How many times as often the highest scores are confirmed as the lowest, as estimated; with
        `at_threshold`, those above the threshold as those below it.
    at_threshold : bool
        Whether a step at the threshold explains the verdicts better than a slope along the score.
    power : float or None
        Share of simulated audits of this design that are called unfair at 5% where the highest
        scores are confirmed three times as often as the lowest; None where there is nothing to
        compare.
    """

    p_value: float
    favoured: float
    at_threshold: bool = False
    power: float | None = None

    @property
    def sentence(self) -> str:
        """Which positives get confirmed more often than which, without a full stop.

        Examples
        --------
        >>> Fairness(p_value=0.01, favoured=3.0).sentence
        'positives of the highest scores get confirmed 3 times as often as those of the lowest'
        >>> Fairness(p_value=0.01, favoured=0.25, at_threshold=True).sentence
        'positives below the threshold get confirmed 4 times as often as those above it'
        """
        times = max(self.favoured, 1 / self.favoured)
        often = times_text(times) if times < _MANY else f"over {_MANY} times"
        more, less = "of the highest scores", "of the lowest"
        if self.at_threshold:
            more, less = "above the threshold", "below it"
        if self.favoured < 1:
            more, less = ("of the lowest scores", "of the highest")
            if self.at_threshold:
                more, less = "below the threshold", "above it"
        return f"positives {more} get confirmed {often} as often as those {less}"

    @property
    def power_sentence(self) -> str:
        """How often an audit like this sees what, without a full stop; empty where that is unknown.

        Examples
        --------
        >>> Fairness(p_value=0.4, favoured=1.2, power=0.098).power_sentence
        'an audit like this sees that high scores are confirmed 3 times as often in 9.8% of cases'
        """
        if self.power is None:
            return ""
        return (
            f"an audit like this sees that high scores are confirmed {FAVOURED:g} times as often "
            f"in {percent_text(self.power)} of cases"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Audits:
    """Counts of many audits of the same window, shape (audits, bins)."""

    labeled: FloatArray
    found: FloatArray
    cleared: FloatArray
    rest: FloatArray

    def share(self, e: FloatArray) -> FloatArray:
        """P where the likelihood of each bin is highest, given e; shape (..., audits, bins)."""
        a = self.labeled + self.found + CONFIRMED_EXPONENT
        b = self.cleared + NEGATIVE_EXPONENT
        square = (a + b + self.rest) * e
        linear = a * e + a + b + self.rest * e
        root = np.sqrt(np.maximum(linear**2 - 4 * square * a, 0))
        return np.asarray(2 * a / (linear + root))

    def log_likelihood(self, level: FloatArray, slope: FloatArray, along: FloatArray) -> FloatArray:
        """The highest over p, summed over bins; level and slope have shape (..., audits)."""
        v = level[..., np.newaxis] + slope[..., np.newaxis] * along
        e = 1 / (1 + np.exp(v))
        p = np.minimum(self.share(e), 1 - 1e-12)
        value = (self.labeled + self.found + CONFIRMED_EXPONENT) * np.log(p)
        value += (self.labeled + CONFIRMED_EXPONENT) * np.log(e)
        value += self.found * np.log1p(-e) + (self.cleared + NEGATIVE_EXPONENT) * np.log1p(-p)
        value += self.rest * np.log1p(-p * e)
        return np.asarray(value.sum(axis=-1))


def check_fairness(counts: AuditCounts, *, seed: int = 0) -> Fairness:
    """Test beta = gamma = 0 by the higher of two likelihood ratios, at a level by simulation.

    It sees what is monotone in the score and what jumps at the threshold, and no favour inside a
    bin or by anything but the score.

    Parameters
    ----------
    counts : AuditCounts
    seed : int

    Notes
    -----
    Under the hypothesis all bins share one label frequency; it and the p of each bin are estimated,
    399 audits of the same design are simulated with them, confirmations included, and the ratio of
    each is computed as that of the audit: the higher of that of a slope alone and that of a step
    alone. As many with labels that favour high scores tell its power: it rests on how many of the
    drawn cases are positive. Verdicts are taken for the truth. Where positives share entities, the
    simulated ones come as many at a time.
    """
    rank = counts.bins.rank
    told = 1 / (1 / (counts.positive + 0.5) + 1 / (counts.labeled + 0.5))
    ways = []
    for along in (rank, np.where(counts.bins.above, 1.0, -1.0)):
        # Centred, so that level and slope are nearly independent.
        centred = along - float(along @ told / told.sum())
        if np.ptp(centred) > 0:
            ways.append(centred)
    if not ways:  # one bin: nothing to compare
        return Fairness(p_value=1.0, favoured=1.0)
    observed = _Audits(
        labeled=counts.labeled[np.newaxis].astype(float),
        found=counts.positive[np.newaxis].astype(float),
        cleared=(counts.decided - counts.positive)[np.newaxis].astype(float),
        rest=(counts.undrawn + counts.undecided)[np.newaxis].astype(float),
    )
    ratios, level, slopes = _ratios(observed, np.array([_crude_level(counts)]), ways)
    rng, e = np.random.default_rng(seed), 1 / (1 + np.exp(level[0]))
    share = observed.share(np.array(e))[0]
    fair = _simulated(counts, share, np.full(len(rank), e), SIMULATIONS, rng)
    unfair = _simulated(counts, share, _favouring(counts, share, e), _POWER_SIMULATIONS, rng)
    others, favouring = (
        _ratios(audits, np.full(len(audits.rest), level[0]), ways)[0].max(axis=0)
        for audits in (fair, unfair)
    )
    seen = favouring > np.quantile(others, 1 - _POWER_LEVEL)
    best = int(ratios[:, 0].argmax())
    ends = level[0] + slopes[best, 0] * ways[best][[0, -1]]
    low, high = 1 / (1 + np.exp(ends))
    as_large = int((others >= ratios[best, 0] - _ROUNDING).sum())
    return Fairness(
        p_value=(1 + as_large) / (1 + SIMULATIONS),
        favoured=float(high / low),
        at_threshold=best == 1,
        power=float(seen.mean()),
    )


def _favouring(counts: AuditCounts, share: FloatArray, e: float) -> FloatArray:
    """Label frequency by bin where high scores are favoured and as many are confirmed in all."""
    positives = counts.rows * share
    times = FAVOURED ** ((np.cumsum(positives) - 0.5 * positives) / positives.sum())
    mean = float(positives @ times / positives.sum())
    return np.asarray(np.minimum(e * times / mean, _MOST_CONFIRMED))


def _crude_level(counts: AuditCounts) -> float:
    """-logit e as if every bin had the same: found positives, weighted up, over confirmed ones."""
    weight = counts.bins.unlabeled / np.maximum(counts.decided, 1)
    hidden = float((weight * counts.positive).sum())
    return float(np.log(hidden + 0.5) - np.log(counts.labeled.sum() + 0.5))


def _ratios(
    audits: _Audits, start: FloatArray, ways: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Twice the log likelihood ratio by way and audit, the fair level, and slopes by way."""
    fair, level, _ = _highest(audits, start, np.zeros_like(ways[0]), sloped=False)
    free = [_highest(audits, level, along, sloped=True) for along in ways]
    ratios = [2 * np.maximum(value - fair, 0) for value, _, _ in free]
    return np.stack(ratios), level, np.stack([slope for _, _, slope in free])


def _highest(
    audits: _Audits, start: FloatArray, along: FloatArray, *, sloped: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The highest likelihood, on grids that narrow down on it."""
    level, slope, width = start, np.zeros_like(start), _WIDTH
    steps = np.linspace(-1, 1, _GRID)
    value = np.full_like(start, -np.inf)
    for _ in range(_REFINEMENTS):
        slopes = steps if sloped else np.zeros(1)
        grid = np.stack(np.meshgrid(steps, slopes, indexing="ij")).reshape(2, -1, 1)
        levels, tried = level + width[0] * grid[0], slope + width[1] * grid[1]
        values = audits.log_likelihood(levels, tried, along)
        best = values.argmax(axis=0)
        audit = np.arange(len(start))
        level, slope, value = levels[best, audit], tried[best, audit], values[best, audit]
        width = width * 2 / (_GRID - 1)
    return value, level, slope


def _simulated(
    counts: AuditCounts, share: FloatArray, e: FloatArray, size: int, rng: np.random.Generator
) -> _Audits:
    """Audits of the same design with these positives and label frequencies by bin, one a row."""
    shape = (size, len(share))
    effect, hidden = counts.bins.design_effect, share * (1 - e) / (1 - share * e)
    chance = np.broadcast_to(share * e, shape)
    labeled = np.rint(draw_in_groups(counts.rows, chance, effect, rng))
    labeled = np.minimum(labeled, counts.rows - counts.decided)
    if effect > 1:
        # Positives of one entity are confirmed together, so that hidden ones vary by as much.
        silent = counts.rows - labeled
        groups = draw_in_groups(
            silent.astype(np.int64), np.broadcast_to(hidden, shape), effect, rng
        )
        hidden = np.clip(groups / np.maximum(silent, 1), 0, 1)
    found = rng.binomial(counts.decided, hidden, size=shape)
    return _Audits(
        labeled=labeled.astype(float),
        found=found.astype(float),
        cleared=(counts.decided - found).astype(float),
        rest=(counts.rows - labeled - counts.decided).astype(float),
    )
