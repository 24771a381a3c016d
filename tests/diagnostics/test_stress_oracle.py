"""The oracle that says where anything can be seen, on which the measured shares stand."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.stress.designs import CENTRES, Design
from benchmarks.stress.oracle import LEVEL, power


@pytest.fixture
def fair():
    return Design(
        name="fair",
        evidence="prior",
        positives=((1.0, 2.0),),
        negatives=((1.0, 0.0),),
        prior=0.1,
        n_labeled=300,
        scenario="case-control",
    )


@pytest.mark.parametrize("evidence", ["scores", "prior", "calibrated", "negatives", "sources"])
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_nothing_is_seen_where_nothing_is_wrong(fair, evidence, scenario):
    assert power(replace(fair, evidence=evidence, scenario=scenario)) < 1.05 * LEVEL


def test_easy_labels_are_seen_with_a_prior_and_never_without(fair):
    easy = replace(fair, slope=2.0)
    assert power(easy) > 0.95
    assert power(replace(easy, evidence="scores")) == LEVEL
    assert power(replace(easy, n_labeled=10)) < 0.5


def test_power_against_simulation(fair):
    """Two sources, one of them easy: the ratio of densities summed over rows."""
    design = replace(fair, evidence="sources", slope=1.0, n_labeled=80)
    expected = design.expected()
    fair_share = expected.fair_labeled / expected.fair_labeled.sum()
    easy = expected.labeled - expected.fair_labeled
    easy_share = easy / easy.sum()
    pooled = 0.5 * (fair_share + easy_share)
    ratios = [
        np.log(np.maximum(s, 1e-12) / np.maximum(pooled, 1e-12)) for s in (fair_share, easy_share)
    ]
    rng = np.random.default_rng(0)

    def statistics(shares, size):
        return sum(
            rng.multinomial(40, share, size=size) @ ratio
            for share, ratio in zip(shares, ratios, strict=True)
        )

    limit = np.quantile(statistics((pooled, pooled), 40_000), 1 - LEVEL)
    simulated = np.mean(statistics((fair_share, easy_share), 40_000) > limit)
    assert power(design) == pytest.approx(simulated, abs=0.08)


def test_an_interval_that_holds_the_truth_is_never_contradicted(fair):
    design = replace(fair, evidence="negatives")
    assert power(design, (0.05, 0.2)) == LEVEL
    assert power(design, (0.4, 0.5)) > 0.99


def test_expected_rows_are_those_drawn(fair):
    design = replace(fair, scenario="single-training-set", evidence="negatives", slope=1.5)
    design = replace(design, n_labeled=20_000)
    rows, expected = design.draw(np.random.default_rng(0)), design.expected()
    for label, counts in ((1, expected.labeled), (0, expected.unlabeled), (-1, expected.negative)):
        chosen = rows.scores[rows.labels == label]
        assert len(chosen) == pytest.approx(counts.sum(), rel=0.03)
        assert chosen.mean() == pytest.approx(CENTRES @ counts / counts.sum(), abs=0.03)
