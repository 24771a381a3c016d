"""Rows with features, for tests of estimators that read them."""

from dataclasses import replace

import numpy as np

from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples
from pumonitor.prior.samples.feature_samples import FeatureSamples


def one_informative(unlabeled_prior, *, n_labeled, n_unlabeled, columns, seed, separation=2.0):
    """Labels, the first column as scores, and columns of which only the first tells anything."""
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < unlabeled_prior])
    features = rng.normal(size=(len(positive), columns))
    features[:, 0] += separation * positive
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, features[:, 0], features


def as_samples(labels, scores, features=None):
    sample = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores).compress(512))
    if features is None:
        return sample
    return replace(sample, features=FeatureSamples.from_arrays(features, labels, scores))
