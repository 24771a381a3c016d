"""Resamples of known prior: what is recorded is the prior of the distribution drawn from."""

import numpy as np
import pytest

from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples
from pumonitor.prior.intervals.interval import feature_resamples, model_resamples
from pumonitor.prior.samples.feature_samples import FeatureSamples


@pytest.mark.parametrize("kind", [TwoSamples, FeatureSamples])
def test_the_recorded_prior_is_the_least_ratio_of_what_is_drawn(kind, monkeypatch):
    """Classes far apart: at the top the ratio of the densities has fallen to the prior itself."""
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0], [30, 1000])
    scores = rng.normal(6.0 * ((labels == 1) | (rng.random(1030) < 0.2)))
    sample = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))
    ratios = []

    def noted(self, labeled, unlabeled, **_):
        labeled, unlabeled = (
            part / part.sum(axis=1, keepdims=True) for part in (labeled, unlabeled)
        )
        ratios.append(np.min(unlabeled / labeled, axis=1))
        return self

    monkeypatch.setattr(kind, "drawn_from", noted)
    if kind is TwoSamples:
        truth, _ = model_resamples(sample, size=50, rng=rng)
    else:
        features = FeatureSamples.from_arrays(scores, labels, scores)
        truth, _ = feature_resamples(sample, features, size=50, rng=rng)
    assert truth.std() > 0.01
    above = ratios[0] / truth - 1
    assert above.min() > -1e-9
    # In a few draws the ratio bends back before it has quite fallen to the prior.
    assert np.quantile(above, 0.9) < 0.001


def test_drawn_mixtures_have_the_density_ratio_of_the_data_at_every_score(monkeypatch):
    rng = np.random.default_rng(2)
    labels = np.repeat([1, 0], [2000, 8000])
    scores = rng.normal(2.0 * ((labels == 1) | (rng.random(10_000) < 0.2)))
    sample = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores).compress(400))
    found = []

    def noted(self, labeled, unlabeled, **_):
        found.append(np.median(unlabeled / labeled, axis=0))
        return self

    monkeypatch.setattr(TwoSamples, "drawn_from", noted)
    model_resamples(sample, size=30, rng=rng)
    at = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    # Densities of positives and negatives are exp(2 s - 2) apart.
    truth = 0.2 + 0.8 * np.exp(2 - 2 * at)
    assert np.interp(at, sample.scores, found[0]) == pytest.approx(truth, rel=0.25)
