"""What feature-based estimators read: features where there are any, else scores as one feature."""

from __future__ import annotations

import numpy as np

from pumonitor.prior.samples.feature_samples import FeatureSamples
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples


def points_of(sample: TwoSamples, *, bins: int) -> FeatureSamples:
    """The features of the sample or, where it has none, its scores as one feature.

    That feature is the normal score of the pooled rank, in `bins` cells, those without rows left
    out: nothing depends on the scale of the scores, and no row has to be left out.
    """
    if sample.features is not None:
        return sample.features
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=bins)
    held = (labeled.sum(axis=0) > 0) | (unlabeled.sum(axis=0) > 0)
    return FeatureSamples(
        points=centres[held, np.newaxis],
        scores=centres[held],
        labeled=labeled[:, held],
        unlabeled=unlabeled[:, held],
        n_labeled=sample.n_labeled,
        n_unlabeled=sample.n_unlabeled,
        are_rows=False,
    )
