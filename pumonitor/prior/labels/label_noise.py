"""How pure labels are, as far as scores show it; with a test of whether there is any noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.plain_values import plain_fields
from pumonitor.prior.kept import Kept
from pumonitor.prior.labels.plateau import PlateauFit, fit_clean, fit_noisy
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples
from pumonitor.results import Scenario
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text, with_interval

_Binned = tuple[FloatArray, FloatArray, FloatArray]
_Fits = tuple[PlateauFit, PlateauFit, PlateauFit]

_CELLS = 512
_BINS = 80
_FEWEST_BINS = 8
_LEAST_RATIO = 5.0
_MATERIAL = 0.97
_FEWEST_MISTAKEN = 5
_WIDE, _NARROW = 16, 24
_AT_ONCE = 24
"""Samples whose fits are searched for together: more of them do not fit into the caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPurityEstimate:
    """P(y = 1 | labeled), and whether the data show that it is below 1.

    Attributes
    ----------
    value : float
        The label purity to use: `best_fit` when noise is evident, otherwise exactly 1.
    low, high : float
        Interval by profile likelihood; `high` is 1 when noise is not evident.
    best_fit : float
        The purity that fits best, evident or not.
    unlabeled_prior : float
        P(y = 1) among unlabeled rows that goes with `best_fit`.
    likelihood_ratio, p_value : float
        Twice the log-likelihood gained by allowing for noise, and its tail probability under none.
    is_evident : bool
    method : str
    """

    value: float
    low: float
    high: float
    best_fit: float
    unlabeled_prior: float
    likelihood_ratio: float
    p_value: float
    is_evident: bool
    method: str = "plateau"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return plain_fields(self)

    def __str__(self) -> str:
        if self.is_evident:
            return f"label_purity {with_interval(self.value, self.low, self.high)}"
        return (
            f"label_purity 1 (no evidence of mistaken labels; the data exclude only purities below "
            f"{number_text(self.low)})"
        )


def estimate_label_purity(
    table: ScoreTable,
    *,
    class_prior: float | None = None,
    scenario: Scenario = "single-training-set",
    confidence_level: float = 0.95,
) -> LabelPurityEstimate:
    """Share of labeled rows that are positive, 1 unless mistaken labels are evident.

    Mistaken labels are spread over the scores like negatives. Positives hardly score where most
    negatives do, so that the ratio of labeled to unlabeled density falls to 0 at low scores if
    labels are right, and levels off if some are not.

    Wrong in one direction when positives themselves have a heavy lower tail, some of them being
    unlike anything the model knows: that looks the same, and no scores tell it apart. Check
    low-scoring confirmations by hand. Noise that follows the score (look-alikes confirmed by
    mistake) is invisible as well, and so is nearly all noise when the ranking is poor.

    Parameters
    ----------
    table : ScoreTable
    class_prior : float, optional
        pi if known; else the unlabeled prior is estimated along with the purity.
    scenario : {"single-training-set", "case-control"}
        How the unlabeled prior follows from `class_prior`; not used without one.
    confidence_level : float

    Returns
    -------
    LabelPurityEstimate

    Raises
    ------
    ValueError
        Unless 0 < class_prior < 1 and 0 < confidence_level < 1.

    Notes
    -----
    The two models of `pumonitor.prior.labels.plateau` are compared on normal scores of the pooled
    ranks: twice the difference of penalised log-likelihoods, half chi-square with one degree of
    freedom if there is no noise. Noise is evident when it is at least 5, the purity at most .97
    and at least five labels come out as mistaken. The purity is 1 - kappa (1 - a), kappa the floor.

    Measured with 200 runs a cell, unlabeled priors .02 and .2, ten unlabeled rows to each
    labeled one. Share of runs in which noise is evident, two normals:

    =======  ====  ============  ==========  ==========
    labeled  AUC   purity 1      purity .9   purity .75
    =======  ====  ============  ==========  ==========
    100      .80   .00           .00         .01
    100      .92   .00           .03         .12
    100      .98   .00           .68         .74
    300      .80   .00           .00         .01
    300      .92   .00           .12         .36
    300      .98   .00           .97         .98
    1000     .80   .01           .01         .00
    1000     .92   .00           .36         .75
    1000     .98   .00           1.00        1.00
    =======  ====  ============  ==========  ==========

    Clean labels of four shapes whose ratio falls to 0 and AUC .65 to .98: .006, .003 and .001 at
    100, 300 and 1000 labeled rows, at most .03 in any cell of 100 runs. Positives with a lower tail
    as heavy as that of negatives fire in .01 to .07 (logistic; .30 at AUC .92 and 1000 labeled) and
    up to .15 (normal of 1.3 times the spread). Intervals at 95% covered .93 to 1.00 (40 runs a
    cell); mean absolute error of `best_fit` for purity .9: .028 at AUC .92, .008 at .98 with 1000
    labeled.

    AlphaMax-N was the alternative. On clean labels its purity is .02 to .24 too low, the more the
    worse the ranking (1000 labeled, 16 runs a cell): with a limit that it crosses in 2% of clean
    runs over all rankings it sees a purity of .75 in none of 64 runs at AUC .92 and .98.
    `python -m benchmarks.label_noise` prints both.

    References
    ----------
    Jain, White, Radivojac (2016): b, a and the two mixtures; AlphaMax-N, the alternative, is in
    `pumonitor.prior.estimators.alphamax`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.arange(1000) < 850, np.arange(10_000) < 1000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> found = estimate_label_purity(table)
    >>> found.is_evident, found.low < 0.85 < found.high
    (True, True)
    """
    if class_prior is not None and not 0 < class_prior < 1:
        msg = f"class_prior must satisfy 0 < class_prior < 1, got {class_prior:g}"
        raise ValueError(msg)
    if not 0 < confidence_level < 1:
        msg = f"confidence_level must satisfy 0 < confidence_level < 1, got {confidence_level:g}"
        raise ValueError(msg)
    sample = TwoSamples.from_table(table.compress(_CELLS))
    binned = _binned(sample)
    if binned is None:
        return _nothing_seen()
    [(clean, noisy, profile)] = _fits([binned])
    ratio = max(2 * float(noisy.likelihood[0] - clean.likelihood[0]), 0.0)
    best, prior = (float(part[0]) for part in _purity(noisy, table, class_prior, scenario))
    low, high = _interval(noisy, profile, table, class_prior, scenario, confidence_level)
    mistaken = sample.n_labeled * (1 - best)
    is_evident = ratio >= _LEAST_RATIO and best <= _MATERIAL and mistaken >= _FEWEST_MISTAKEN
    return LabelPurityEstimate(
        value=best if is_evident else 1.0,
        low=min(low, best),
        high=max(high, best) if is_evident else 1.0,
        best_fit=best,
        unlabeled_prior=prior,
        likelihood_ratio=ratio,
        p_value=0.5 * float(special.chdtrc(1, ratio)) if ratio > 0 else 1.0,
        is_evident=is_evident,
    )


def _nothing_seen() -> LabelPurityEstimate:
    """Too few distinct scores to see the shape of a ratio."""
    return LabelPurityEstimate(
        value=1.0,
        low=0.0,
        high=1.0,
        best_fit=1.0,
        unlabeled_prior=0.5,
        likelihood_ratio=0.0,
        p_value=1.0,
        is_evident=False,
        method="too few distinct scores",
    )


def _purity(
    fit: PlateauFit, table: ScoreTable, class_prior: float | None, scenario: Scenario
) -> tuple[FloatArray, FloatArray]:
    """Label purity b and unlabeled prior a from the floor kappa = (1 - b) / (1 - a).

    With pi known in the single-training-set scenario, n pi = n_L b + n_U a is the other equation.
    """
    kappa = fit.floor
    if class_prior is None:
        prior = fit.unlabeled_prior
        return 1 - kappa * (1 - prior), prior
    if scenario == "case-control":
        prior = np.full(len(kappa), class_prior)
        return 1 - kappa * (1 - prior), prior
    labeled, unlabeled = float(table.labeled_mass.sum()), float(table.unlabeled.sum())
    positives = class_prior * (labeled + unlabeled + float(table.negative.sum()))
    purity = 1 - kappa + kappa * positives / unlabeled
    purity = np.clip(purity / (1 + kappa * labeled / unlabeled), 0.0, 1.0)
    return purity, np.clip((positives - labeled * purity) / unlabeled, 0.0, 1.0)


def search_together(tables: Sequence[ScoreTable]) -> None:
    """Fit many tables at once: `estimate_label_purity` of one of them then has its fits.

    The numbers are the same. For panes and segments of a window it takes less than half the time.
    """
    binned = (_binned(TwoSamples.from_table(one.compress(_CELLS))) for one in tables)
    _fits([one for one in binned if one is not None])


def _binned(sample: TwoSamples) -> _Binned | None:
    """Bins of the normal scores with their rows; None where too few of them hold any."""
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    rows = labeled * sample.n_labeled, unlabeled * sample.n_unlabeled
    return (centres, *rows) if np.count_nonzero(rows[0] + rows[1]) >= _FEWEST_BINS else None


def _searched(binned: Sequence[_Binned]) -> list[_Fits]:
    """Of each the clean model, the noisy one, and the noisy one with each of many floors."""
    return [
        fits
        for start in range(0, len(binned), _AT_ONCE)
        for fits in _searched_at_once(binned[start : start + _AT_ONCE])
    ]


def _searched_at_once(binned: Sequence[_Binned]) -> Iterator[_Fits]:
    middle = binned[0][0]
    rows, others = (np.concatenate([one[part] for one in binned]) for part in (1, 2))
    clean, noisy = fit_clean(middle, rows, others), fit_noisy(middle, rows, others)
    wide = np.geomspace(1e-3, 0.98, _WIDE)
    narrow = np.clip(noisy.floor, 1e-3, 0.45)[:, np.newaxis] * np.geomspace(0.4, 2.2, _NARROW)
    floors = [np.sort(np.concatenate([[0.0], wide, one])) for one in narrow]
    each = len(floors[0])
    labels, unlabeled_rows = (np.repeat(part, each, axis=0) for part in (rows, others))
    profile = fit_noisy(middle, labels, unlabeled_rows, near=noisy, floor=np.concatenate(floors))
    for number in range(len(binned)):
        one = slice(number, number + 1)
        yield (
            clean.part(one),
            noisy.part(one),
            profile.part(slice(each * number, each * (number + 1))),
        )


_fits = Kept(_searched, key_of=lambda one: one[1].tobytes() + one[2].tobytes(), most=256)


def _interval(
    noisy: PlateauFit,
    profile: PlateauFit,
    table: ScoreTable,
    class_prior: float | None,
    scenario: Scenario,
    confidence_level: float,
) -> tuple[float, float]:
    """Purities of all floors whose best likelihood is near enough to the greatest."""
    floor = profile.floor
    greatest = max(float(noisy.likelihood[0]), float(profile.likelihood.max()))
    fall = greatest - profile.likelihood
    reach = 0.5 * float(special.chdtri(1, 1 - confidence_level))
    kept = np.flatnonzero(fall <= reach)
    if len(kept) == 0:
        return math.inf, -math.inf
    purity, _ = _purity(profile, table, class_prior, scenario)

    def end(inside: int, outside: int) -> float:
        if not 0 <= outside < len(floor):
            return float(purity[inside])
        part = (reach - fall[inside]) / (fall[outside] - fall[inside])
        return float(purity[inside] + part * (purity[outside] - purity[inside]))

    # Purity falls as the floor rises.
    return end(int(kept[-1]), int(kept[-1]) + 1), end(int(kept[0]), int(kept[0]) - 1)
