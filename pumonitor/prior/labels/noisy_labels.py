"""The unlabeled prior and the label purity together, where labels are known to be mistaken."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from pumonitor.errors import NoBoundWarning
from pumonitor.prior.auto.auto import auto
from pumonitor.prior.auto.normal_mixture import on_the_line
from pumonitor.prior.samples.two_samples import TwoSamples
from pumonitor.tables import ScoreTable

Interval = tuple[float, float]

_CELLS = 65_536
_ALIKE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLabels:
    """Unlabeled prior and label purity, estimated together.

    Attributes
    ----------
    unlabeled_prior : float
        P(y = 1) among unlabeled rows.
    label_purity : float
        P(y = 1) among labeled rows.
    unlabeled_prior_interval, label_purity_interval : tuple of float
        (low, high), each at `confidence_level`; that of the purity ends at 1.
    labeled_like, unlabeled_like : float
        The shares both follow from: of unlabeled rows that score as labeled ones do, and of
        labeled rows that score as unlabeled ones do.
    confidence_level : float
    """

    unlabeled_prior: float
    label_purity: float
    unlabeled_prior_interval: Interval
    label_purity_interval: Interval
    labeled_like: float
    unlabeled_like: float
    confidence_level: float


def estimate_noisy_labels(table: ScoreTable, *, confidence_level: float = 0.95) -> NoisyLabels:
    """Unlabeled prior and label purity, for labels of which some are known to be mistaken.

    Use it only with evidence from elsewhere that labels are wrong: a review of a sample of them, a
    source known to err. It has no test of whether any are, and takes labels that are all right
    for mistaken here and there, since positives that score low look the same. Without
    such evidence take ``label_purity="auto"``, which is 1 unless the scores show the mistakes.

    Both shares are right when some scores are reached by positives alone and some by negatives
    alone. Both are too high where some negatives score like positives at the top, and too low
    where some positives score like negatives at the bottom.

    Parameters
    ----------
    table : ScoreTable
    confidence_level : float

    Returns
    -------
    NoisyLabels
        Intervals from 0 to 1, or nearly, where labeled and unlabeled rows are alike: the two
        estimates then say nothing.

    Raises
    ------
    ValueError
        Unless 0 < confidence_level < 1.

    Warns
    -----
    NoBoundWarning
        If labeled and unlabeled rows may all be alike: the interval of the purity begins below .05.

    Notes
    -----
    `auto` is run both ways. Let A be the share of unlabeled rows that score as labeled ones do,
    and C the share of labeled rows that score as unlabeled ones do: `auto` with the two samples
    changing places and the scores reversed. With unlabeled prior a and label purity b,
    A = a / b and C = (1 - b) / (1 - a), so that b = (1 - C) / (1 - A C) and a = A b.

    Both rise with A and fall with C: their intervals begin at the lower end of A with the upper
    end of C. They end at the upper end of A with C = 0, as no scores exclude that what looks like
    mistakes are positives that score low.

    Measured at a confidence of .95 with ten unlabeled rows to each labeled one, unlabeled priors
    .05, .2 and .5, purities 1, .95, .9 and .75: of 2700 data sets of two normals the intervals of
    prior and purity held 99.7% each, and of 1728 of two other shapes 99% or more (in groups of 72
    by shape, AUC and purity at least 96% and 99%). They are wide: that of the purity is .18 long
    on the average at AUC .98 with 1000 labeled rows, .62 at AUC .80 with 100. Mean absolute
    errors of purity / prior on the two normals:

    ====  ===========  ===========  ============
    AUC   100 labeled  300 labeled  1000 labeled
    ====  ===========  ===========  ============
    .80   .092 / .081  .062 / .052  .051 / .048
    .92   .039 / .040  .030 / .028  .019 / .014
    .98   .035 / .033  .025 / .017  .016 / .010
    ====  ===========  ===========  ============

    The purity is drawn towards the middle: of labels that are all right it is .07, .01 and .005
    too low at AUC .80, .92 and .98, and where it is .75, .05 too low, .02 and .03 too high.

    References
    ----------
    Jain, White, Radivojac (2016), Estimating the class prior and posterior from noisy positives
    and unlabeled data: both shares from two mixtures, under mutual irreducibility. AlphaMax-N
    (`pumonitor.prior.estimators.alphamax.alphamax_n`) is the same with AlphaMax in place of `auto`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.arange(1000) < 800, np.arange(10_000) < 2000])
    >>> found = estimate_noisy_labels(ScoreTable.from_arrays(labels, rng.normal(3 * positive)))
    >>> bool(abs(found.label_purity - 0.8) < 0.05), bool(abs(found.unlabeled_prior - 0.2) < 0.02)
    (True, True)
    """
    if not 0 < confidence_level < 1:
        msg = f"confidence_level must satisfy 0 < confidence_level < 1, got {confidence_level:g}"
        raise ValueError(msg)
    sample = TwoSamples.from_table(table.compress(_CELLS))
    positives = auto(sample, confidence_level=confidence_level)
    mistakes = auto(_reversed(sample), confidence_level=confidence_level)
    value = _purity(positives.value, mistakes.value)
    low = _purity(positives.low, mistakes.high)
    if low < _ALIKE:
        warnings.warn(
            "labeled and unlabeled rows may all be alike, so that every prior and every label "
            "purity fits and the estimates of both carry no information; give scores that "
            "tell positives apart, or more rows",
            NoBoundWarning,
            stacklevel=2,
        )
    return NoisyLabels(
        unlabeled_prior=positives.value * value,
        label_purity=value,
        unlabeled_prior_interval=(positives.low * low, positives.high),
        label_purity_interval=(low, 1.0),
        labeled_like=positives.value,
        unlabeled_like=mistakes.value,
        confidence_level=confidence_level,
    )


def _purity(labeled_like: float, unlabeled_like: float) -> float:
    """The purity (1 - C) / (1 - A C); 1 for samples alike, as for A = 1 and any other C."""
    both = 1 - labeled_like * unlabeled_like
    return (1 - unlabeled_like) / both if both > 0 else 1.0


def _reversed(sample: TwoSamples) -> TwoSamples:
    """The same rows with the labeled ones as the mixture, and what is typical of it scoring high.

    Scores stay on the line, where logits of chances are: ending at -1 they are not taken for
    chances again.
    """
    line = on_the_line(sample.scores)
    return TwoSamples(
        scores=(line[0] - line - 1)[::-1],
        labeled=sample.unlabeled[:, ::-1],
        unlabeled=sample.labeled[:, ::-1],
        n_labeled=sample.n_unlabeled,
        n_unlabeled=sample.n_labeled,
    )
