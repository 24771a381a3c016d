"""Labels that stop at a rank: only what scored above it was looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.shift_test import LEVEL
from pumonitor.results import Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text, percent_text, times_text

_RATIO = 2.0
"""Labels twice as frequent above as right below are let pass: models are steep."""

_STEP = 1.08
_LOWEST = 0.6
_WIDTHS = (0.2, 0.4, 0.7)
_BANDS = 4
_FEWEST_LABELS = 20
# With none below, fewer above are no evidence at any place.
_FEWEST_ABOVE = 15

_ROUNDS = 25
_SETTLED = 1e-12
_BENT = 0.01
_MANY_ABOVE = 100
_CROWDED = 0.02
_MANY = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCut:
    """Where labels stop.

    Attributes
    ----------
    score : float
        Labels are frequent at this score and above, and rare right below.
    share : float
        Of the rows, at or above it.
    ratio : float
        How many times as frequent; infinite where there are none right below.
    p_value : float
        Of labels at most twice as frequent, anywhere that was looked at.
    at_threshold : bool
        Whether it is the decision threshold.
    """

    score: float
    share: float
    ratio: float
    p_value: float
    at_threshold: bool


def review_cut(
    table: ScoreTable,
    *,
    thresholds: Sequence[float] = (),
    scenario: str = "single-training-set",
    level: float = LEVEL,
    bent_level: float = _BENT,
) -> ReviewCut | None:
    """Where labels stop from one rank to the next, if they surely do.

    Parameters
    ----------
    table : ScoreTable
    thresholds : sequence of float
        Where a cut is most likely: half of the level is spent on them.
    scenario : str
    level : float
    bent_level : float
        Of the test of a bent line, see below. The greater, the fewer cuts are let pass.

    Returns
    -------
    ReviewCut or None
        None where no cut has a p-value below the level, with all places and widths paid for.

    Notes
    -----
    With fair labels P(labeled | score) = c P(positive | score), which changes from score to score
    as steeply as the model is sharp, but not from one row to the next. Beside each of a grid of
    ranks k, 8% apart, the rows from k (1 - w) to k (1 + w) are put into eight bands, and labels in
    them are Poisson with a logarithm that is linear in the rank and falls by J at k. The likelihood
    ratio tests J <= log 2 against J free. Where a model separates the classes by itself, labels
    stop where positives stop; then it is the rows that thin out, and on the scale of the scores
    labels fade away. So the same must hold with bands of equal width in the score and, for scores
    between 0 and 1, in their logit (beyond .02 and .98 in that alone): a cut is one on every scale.
    Of the p-values the largest counts, times the number of places and widths. Where
    100 labels or more are above, a fall that a bent line explains as well, with p-value above
    `bent_level`, is none either: at AUC .995 labels fade faster than a straight line, which fewer
    do not show.
    `python -m benchmarks.review_cut` measures what is seen, and what is seen in fair labels.
    """
    ranked = _Ranked.of(table, scenario=scenario)
    if ranked is None:
        return None
    own = ranked.above(np.asarray(thresholds, dtype=np.float64))
    looked_at = [
        places[(places > 0) & (places < _LOWEST * ranked.rows)] for places in (_places(ranked), own)
    ]
    places = np.concatenate([np.tile(some, len(_WIDTHS)) for some in looked_at])
    if not len(places):
        return None
    widths = np.concatenate([np.repeat(_WIDTHS, len(some)) for some in looked_at])
    p_values, ratios = _tested(ranked, places, widths, (level, bent_level))
    # Half of the level is for the thresholds, half for all other places.
    numbers = [len(_WIDTHS) * len(some) for some in looked_at]
    p_values = np.minimum(p_values * np.repeat([2 * number for number in numbers], numbers), 1.0)
    at = int(np.argmin(p_values))
    if p_values[at] >= level:
        return None
    return ReviewCut(
        score=float(ranked.score_at(places[[at]])[0]),
        share=float(places[at] / ranked.rows),
        ratio=float(ratios[at]),
        p_value=float(p_values[at]),
        at_threshold=at >= numbers[0],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ranked:
    """Cells from the highest score down.

    Attributes
    ----------
    reached, labeled : ndarray of shape (cells + 1,)
        Rows and labels at or above each cell, with 0 before the first.
    upper, lower : ndarray of shape (cells,)
        Scores of each.
    lump : ndarray of shape (cells,)
        Rows of a cell whose order is not known: tied, or put together with labeled ones. 0 where
        unlabeled rows lie one after the other.
    """

    reached: FloatArray
    labeled: FloatArray
    upper: FloatArray
    lower: FloatArray
    lump: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, *, scenario: str) -> _Ranked | None:
        """None with too few labels."""
        labels = table.labeled_mass
        squares = float(table.labeled_mass_squares.sum())
        if table.n_labeled < _FEWEST_LABELS or labels.sum() <= 0 or squares <= 0:
            return None
        # Weighted labels tell as much as so many of weight 1 (Kish), fewer than there are.
        labels = labels * (labels.sum() / squares)
        if labels.sum() < _FEWEST_LABELS:
            return None
        rows = table.unlabeled
        if scenario == "single-training-set":
            rows = rows + table.labeled_mass + table.negative
        rows, labels, upper, lower = (
            np.asarray(column[::-1], dtype=np.float64)
            for column in (rows, labels, table.upper, table.lower)
        )
        one_by_one = (labels == 0) & (upper > lower)
        return cls(
            reached=np.append(0.0, np.cumsum(rows)),
            labeled=np.append(0.0, np.cumsum(labels)),
            upper=upper,
            lower=lower,
            lump=np.where(one_by_one, 0.0, rows),
        )

    @property
    def are_shares(self) -> bool:
        """Whether the scores are between 0 and 1."""
        return bool(self.lower[-1] >= 0 and self.upper[0] <= 1)

    @property
    def rows(self) -> float:
        """All of them."""
        return float(self.reached[-1])

    def above(self, scores: FloatArray) -> FloatArray:
        """Rows at or above scores."""
        return self.reached[np.searchsorted(-self.lower, -scores, side="right")]

    def score_at(self, ranks: FloatArray, *, logit: bool = False) -> FloatArray:
        """Score, or its logit, of the rows of some ranks."""
        knots = np.stack([self.reached[:-1], self.reached[1:]], axis=1).ravel()
        scores = np.stack([self.upper, self.lower], axis=1).ravel()
        found = np.asarray(np.interp(ranks, knots, scores))
        return _logit(found) if logit else found

    def labels_by_rank(self, ranks: FloatArray) -> FloatArray:
        """Labels down to ranks."""
        return np.asarray(np.interp(ranks, self.reached, self.labeled))

    def labels_by_score(self, scores: FloatArray, *, logit: bool = False) -> FloatArray:
        """Labels down to scores, or to logits of scores."""
        middles = 0.5 * (self.lower + self.upper)
        scale = _logit(middles) if logit else middles
        return self.labeled[np.searchsorted(-scale, -scores, side="right")]

    def largest_lump(self, first: FloatArray, last: FloatArray) -> FloatArray:
        """Of the cells between ranks."""
        begin = np.searchsorted(self.reached, first, side="right") - 1
        end = np.searchsorted(self.reached, last, side="left")
        return np.array(
            [self.lump[one:other].max(initial=0.0) for one, other in zip(begin, end, strict=True)]
        )


def _logit(scores: FloatArray) -> FloatArray:
    return np.asarray(special.logit(np.clip(scores, 1e-12, 1 - 1e-12)))


def _places(ranked: _Ranked) -> FloatArray:
    """Ranks at which a cut is looked for: from where enough labels are above it."""
    first = float(np.interp(_FEWEST_LABELS, ranked.labeled, ranked.reached))
    last = _LOWEST * ranked.rows
    if not 0 < first < last:
        return np.zeros(0)
    return np.asarray(first * _STEP ** np.arange(int(np.log(last / first) / np.log(_STEP)) + 1))


def _tested(
    ranked: _Ranked, places: FloatArray, widths: FloatArray, levels: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """P-value of no cut at each place, and how many times as frequent labels are above it."""
    grid = widths[:, np.newaxis] * np.linspace(-1.0, 1.0, 2 * _BANDS + 1)
    edges = places[:, np.newaxis] * (1.0 + grid)
    counts = np.diff(ranked.labels_by_rank(edges), axis=1)
    above, below = counts[:, :_BANDS].sum(axis=1), counts[:, _BANDS:].sum(axis=1)
    lump = ranked.largest_lump(edges[:, 0], edges[:, -1])
    asked = np.flatnonzero(
        (above > _RATIO * below) & (above >= _FEWEST_ABOVE) & (lump <= places * widths / _BANDS)
    )
    p_values, ratios = np.ones(len(places)), np.ones(len(places))
    if len(asked):
        p_values[asked], ratios[asked] = _jump(counts[asked], levels)
    for logit in (False, True) if ranked.are_shares else (False,):
        asked = asked[p_values[asked] < levels[0]]
        if not len(asked):
            break
        at_cut = ranked.score_at(places[asked])
        if ranked.are_shares and not logit:
            # Near 0 and 1 shares are crowded, and equal steps of them mean nothing.
            own = asked[(at_cut > _CROWDED) & (at_cut < 1 - _CROWDED)]
        else:
            own = asked
        top, middle = (
            ranked.score_at(edges[own, at], logit=logit)[:, np.newaxis] for at in (0, _BANDS)
        )
        ends = middle - (top - middle) * grid[own] / widths[own, np.newaxis]
        by_score, _ = _jump(np.diff(ranked.labels_by_score(ends, logit=logit), axis=1), levels)
        alike = np.maximum(p_values[own], by_score)
        p_values[own] = np.where((top > middle)[:, 0], alike, 1.0)
    return p_values, ratios


def _jump(counts: FloatArray, levels: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """P-value of a fall by half or less in the middle, and the fall, of counts in equal bands."""
    x = np.linspace(-1.0, 1.0, counts.shape[1])
    level, bent_level = levels
    straight = np.stack([np.ones_like(x), x])
    p_values, falls = _against(counts, straight)
    many = counts[:, :_BANDS].sum(axis=1) >= _MANY_ABOVE
    asked = np.flatnonzero((p_values < level) & many)
    if len(asked):
        bent, _ = _against(counts[asked], np.vstack([straight, x**2]))
        p_values[asked[bent > bent_level]] = 1.0
    return p_values, falls


def _against(counts: FloatArray, smooth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same, where the logarithm is a sum of these columns and a step."""
    below = (np.arange(counts.shape[1]) >= _BANDS).astype(np.float64)
    least, _ = _deviance(counts, smooth, offset=-np.log(_RATIO) * below)
    free, fitted = _deviance(counts, np.vstack([smooth, below]), offset=0.0 * below)
    fall = np.exp(np.clip(-fitted[:, -1], -30, 30))
    p_values = 0.5 * special.chdtrc(1, np.maximum(least - free, 0.0))
    none_below = counts[:, _BANDS:].sum(axis=1) < 1e-9
    return np.where(fall > _RATIO, p_values, 1.0), np.where(none_below, np.inf, fall)


def _deviance(
    counts: FloatArray, design: FloatArray, *, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of the best Poisson regression with these columns, a row of counts each; its coefficients."""
    columns = len(design)
    beta = np.zeros((len(counts), columns))
    beta[:, 0] = np.log(np.maximum(counts.mean(axis=1), 0.1))
    small = 1e-3 * np.eye(columns)
    moving = np.arange(len(counts))
    for _ in range(_ROUNDS):
        before = beta[moving]
        mean = np.exp(np.clip(before @ design + offset, -30, 30))
        score = (counts[moving] - mean) @ design.T
        information = np.einsum("ij,aj,bj->iab", mean, design, design) + small
        step = np.linalg.solve(information, score[:, :, np.newaxis])[:, :, 0]
        beta[moving] = np.clip(before + np.clip(step, -1.0, 1.0), -25, 25)
        moving = moving[(np.abs(beta[moving] - before) > _SETTLED).any(axis=1)]
        if not len(moving):
            break
    mean = np.exp(np.clip(beta @ design + offset, -30, 30))
    unexplained = special.xlogy(counts, np.maximum(counts, 1e-300) / mean) - counts + mean
    return 2 * unexplained.sum(axis=1), beta


def labels_stop_at_a_rank(table: ScoreTable, settings: Mapping[str, Any]) -> list[Finding]:
    """A warning where labels stop from one rank to the next, as review of high scores makes them.

    Not with propensities, which say how likely review was, nor in the case-control scenario, whose
    labeled rows come from elsewhere. Wrong where positives themselves stop at a score, by a rule
    that both the score and the truth follow.
    """
    if settings["scenario"] != "single-training-set" or table.has_propensities:
        return []
    threshold = settings.get("threshold")
    found = review_cut(table, thresholds=() if threshold is None else (float(threshold),))
    if found is None:
        return []
    more = (
        "there are none"
        if found.ratio > _MANY
        else f"they are {times_text(found.ratio)} as rare among the rows there"
    )
    where = "the threshold" if found.at_threshold else f"a score of {number_text(found.score)}"
    return [
        Finding(
            name="review_cut",
            severity="warning",
            sentence=(
                f"Confirmed positives stop at {where} (the highest {percent_text(found.share)} of "
                f"rows): right below, {more}. Cases above were reviewed and cases below rarely, so "
                "the confirmed ones are not a fair sample, and estimates from them are too "
                "favourable to these scores. Give verdicts and complaints apart, verdicts as "
                "reviews; or review some rows at random, or give the chance of review as "
                "propensity."
            ),
        )
    ]
