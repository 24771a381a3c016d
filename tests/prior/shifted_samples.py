"""Samples and rows of two normals whose class prior is known."""

import numpy as np
from scipy import stats

from pumonitor.prior import TwoSamples
from pumonitor.prior.samples.reference import Reference
from pumonitor.results import ClassPriorEstimate

CELLS = 40
EDGES = np.linspace(-4.0, 6.0, CELLS + 1)
POSITIVE, NEGATIVE = (
    np.diff(stats.norm.cdf(EDGES, centre)) / np.diff(stats.norm.cdf(EDGES, centre)).sum()
    for centre in (2.0, 0.0)
)
# The probability of being positive where a tenth is.
POSTERIOR = 0.1 * POSITIVE / (0.1 * POSITIVE + 0.9 * NEGATIVE)


def known(prior, *, reach=0.0):
    ends = (prior - reach, prior + reach)
    return ClassPriorEstimate(
        value=prior,
        low=ends[0],
        high=ends[1],
        unlabeled_prior=prior,
        unlabeled_prior_interval=ends,
    )


def mixed(prior):
    return prior * POSITIVE + (1 - prior) * NEGATIVE


def samples(
    window,
    *,
    reference=None,
    labeled=POSITIVE,
    prior=None,
    n_labeled=500,
    n_unlabeled=10_000,
    rng=None,
):
    """A window against a reference of prior 0.1; as the shares are, or drawn from them."""

    def drawn(share, rows):
        return (share if rng is None else rng.multinomial(rows, share) / rows)[np.newaxis]

    return TwoSamples(
        scores=POSTERIOR,
        labeled=drawn(labeled, n_labeled),
        unlabeled=drawn(window, n_unlabeled),
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        reference=Reference(
            unlabeled=drawn(mixed(0.1) if reference is None else reference, n_unlabeled),
            n_unlabeled=n_unlabeled,
            prior=prior or known(0.1),
        ),
    )


def rows(prior, *, size=20_000, label_frequency=0.3, separation=2.0, seed=0, shift=0.0):
    """A window of the single-training-set scenario."""
    rng = np.random.default_rng([seed, int(1000 * prior)])
    positive = rng.random(size) < prior
    labels = (positive & (rng.random(size) < label_frequency)).astype(int)
    return labels, rng.normal((separation + shift) * positive)
