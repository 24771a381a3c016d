"""What somebody who knows all densities could see: the power of the best test there is.

For each stress, with what is known beside scores and labels, the clean model nearest to the spoilt
truth is found, and the likelihood ratio of the two is the most powerful test between them (Neyman,
Pearson). Nearest is meant in Kullback-Leibler distance, which is the clean model that the data are
hardest to tell from. No test of the whole clean class has more power.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.stress.designs import Counts, Design
from pumonitor.diagnostics.known_negatives import fitted_rows
from pumonitor.prior.labels.plateau import fit_clean
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

__all__ = ["LEVEL", "power"]

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]

LEVEL = 0.001
_STEPS = 3000
_TINY, _TINY_SHARE, _TINY_VARIANCE = 1e-12, 1e-9, 1e-6
_TOP = 0.25
_PLATEAU_BINS = 80


def power(design: Design, claimed: tuple[float, float] | None = None) -> float:
    """Of the likelihood-ratio test at level 0.001 of the truth against the nearest clean model.

    `claimed` is the interval of an estimated unlabeled prior that confirmed negatives could
    contradict; one that holds the truth is right, and nothing is to be seen.
    """
    expected = design.expected()
    if claimed is not None:
        return _power(_claimed(expected, claimed))
    if design.evidence == "prior":
        return _power(_given_prior(expected, design))
    if design.evidence == "calibrated":
        return _power([_like(expected.labeled, expected.positives)])
    if design.evidence == "sources":
        return _power(_same(expected.labeled - expected.fair_labeled, expected.fair_labeled))
    if design.evidence == "negatives":
        return _power(_mixture(expected, share=None))
    if design.mistaken > 0:
        return _power(_falling_to_nothing(expected))
    if design.name == "halfway":
        return _power(_pure_top(expected))
    # Labeled positives that favour high scores are the positives of another clean model, and
    # negatives that score like positives are positives of another: the truth itself is clean.
    return LEVEL


def _power(pairs: list[Pair]) -> float:
    """From expected rows per bin, (truth, clean) for each sample of a fixed number of rows.

    The log-likelihood ratio is a sum over rows, taken as normal with its exact mean and variance
    under both.
    """
    means, variances = np.zeros(2), np.zeros(2)
    for truth, clean in pairs:
        total = float(truth.sum())
        # Bins without rows in either have shares that are nothing but rounding errors.
        kept = truth > _TINY_SHARE * total
        shares = [np.maximum(part[kept], _TINY) / part[kept].sum() for part in (truth, clean)]
        ratio = np.log(shares[0] / shares[1])
        for index, share in enumerate(shares):
            mean = float(share @ ratio)
            means[index] += total * mean
            variances[index] += total * max(float(share @ ratio**2) - mean**2, 0.0)
    if variances[0] <= _TINY_VARIANCE:
        return LEVEL
    limit = means[1] - float(special.ndtri(LEVEL)) * np.sqrt(variances[1])
    return float(special.ndtr((means[0] - limit) / np.sqrt(variances[0])))


def _like(rows: FloatArray, others: FloatArray) -> Pair:
    """Rows that should be spread as others are."""
    return rows, others / others.sum() * rows.sum()


def _same(one: FloatArray, other: FloatArray) -> list[Pair]:
    """Two samples that should have one distribution."""
    return [_like(one, one + other), _like(other, one + other)]


def _given_prior(expected: Counts, design: Design) -> list[Pair]:
    """Unlabeled rows hold the share of positives that the class prior says, at all scores.

    u = a g + (1 - a) h with any h: expectation-maximisation over g and h.
    """
    prior = design.prior
    labeled, unlabeled = expected.labeled, expected.unlabeled
    if design.scenario == "single-training-set":
        positives = prior * (labeled + unlabeled + expected.negative).sum()
        prior = float((positives - labeled.sum()) / unlabeled.sum())
    positive = labeled / labeled.sum()
    rest = unlabeled / unlabeled.sum()
    for _ in range(_STEPS):
        mixture = prior * positive + (1 - prior) * rest
        of_positives = unlabeled * prior * positive / np.maximum(mixture, _TINY)
        positive = labeled + of_positives
        rest = np.maximum(unlabeled - of_positives, 0.0)
        positive, rest = positive / positive.sum(), rest / rest.sum()
    mixture = prior * positive + (1 - prior) * rest
    return [(labeled, positive * labeled.sum()), (unlabeled, mixture * unlabeled.sum())]


def _mixture(expected: Counts, *, share: float | None) -> list[Pair]:
    """Unlabeled rows are labeled and confirmed negative ones mixed, in any or in a given share."""
    labeled, unlabeled, known = expected.labeled, expected.unlabeled, expected.negative
    shares = np.linspace(0.005, 0.995, 199) if share is None else np.array([share])
    fits = fitted_rows(shares[:, np.newaxis], labeled, known, unlabeled)
    gained = sum(
        special.xlogy(rows, np.maximum(fit, 1e-300)).sum(axis=1)
        for rows, fit in zip((labeled, known, unlabeled), fits, strict=True)
    )
    # Near the end already, where expectation-maximisation alone would take very long to come.
    best = int(np.argmax(gained))
    part = float(shares[best])
    positive, negative = fits[0][best] / fits[0][best].sum(), fits[1][best] / fits[1][best].sum()
    for _ in range(_STEPS):
        mixture = np.maximum(part * positive + (1 - part) * negative, _TINY)
        of_positives = unlabeled * part * positive / mixture
        positive = labeled + of_positives
        negative = known + np.maximum(unlabeled - of_positives, 0.0)
        positive, negative = positive / positive.sum(), negative / negative.sum()
        if share is None:
            part = float(of_positives.sum() / unlabeled.sum())
    mixture = part * positive + (1 - part) * negative
    return [
        (labeled, positive * labeled.sum()),
        (known, negative * known.sum()),
        (unlabeled, mixture * unlabeled.sum()),
    ]


def _claimed(expected: Counts, claimed: tuple[float, float]) -> list[Pair]:
    """The same mixture in the share that a wrong interval has nearest to the truth."""
    truth = float(expected.unlabeled_positives / expected.unlabeled.sum())
    if claimed[0] <= truth <= claimed[1]:
        return []
    nearest = claimed[0] if truth < claimed[0] else claimed[1]
    return _mixture(expected, share=min(max(nearest, 1e-6), 1 - 1e-6))


def _falling_to_nothing(expected: Counts) -> list[Pair]:
    """Labels are right and positives ever rarer at low scores, in the way of `plateau.fit_clean`.

    The labels given the scores: each bin is a sample of its own with two outcomes.
    """
    sample = TwoSamples(
        scores=np.arange(len(expected.labeled), dtype=float),
        labeled=(expected.labeled / expected.labeled.sum())[np.newaxis],
        unlabeled=(expected.unlabeled / expected.unlabeled.sum())[np.newaxis],
        n_labeled=float(expected.labeled.sum()),
        n_unlabeled=float(expected.unlabeled.sum()),
    )
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=_PLATEAU_BINS)
    labeled, unlabeled = labeled * sample.n_labeled, unlabeled * sample.n_unlabeled
    fit = fit_clean(centres, labeled, unlabeled)
    exponent = fit.parameters[:, 1:] @ np.stack([np.ones_like(centres), centres, centres**2])
    ratio = 1 / (fit.unlabeled_prior[0] + np.exp(-np.clip(exponent[0], -30, 30)))
    odds = ratio * labeled.sum() / unlabeled.sum()
    rows = labeled[0] + unlabeled[0]
    return [
        (np.array([ones, zeros]), total * np.array([chance, 1 - chance]))
        for ones, zeros, total, chance in zip(
            labeled[0], unlabeled[0], rows, odds / (1 + odds), strict=True
        )
        if total > _TINY
    ]


def _pure_top(expected: Counts) -> list[Pair]:
    """Where the top quarter of the labeled rows scores there are positives only."""
    above = np.cumsum(expected.labeled[::-1])[::-1] / expected.labeled.sum()
    first = int(np.searchsorted(-above, -_TOP, side="right")) - 1
    return _same(expected.labeled[first:], expected.unlabeled[first:])
