"""Seeded coverage of paired 95% intervals; the full grid is benchmarks.comparison."""

import math

import pytest

from benchmarks.comparison import METRICS, PairDesign, paired_coverage
from tests.given_labels import labels_as_given

pytestmark = pytest.mark.slow

RUNS = 200


@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize(
    "design",
    [
        PairDesign(
            scenario="single-training-set",
            n_labeled=20,
            class_prior=0.1,
            aucs=(0.8, 0.8),
            correlation=0.5,
        ),
        PairDesign(
            scenario="single-training-set",
            n_labeled=50,
            class_prior=0.3,
            aucs=(0.9, 0.75),
            correlation=0.9,
        ),
        PairDesign(
            scenario="case-control",
            n_labeled=50,
            class_prior=0.1,
            aucs=(0.9, 0.75),
            correlation=0.5,
        ),
        PairDesign(
            scenario="case-control",
            n_labeled=200,
            class_prior=0.3,
            aucs=(0.8, 0.8),
            correlation=0.9,
            label_purity=0.9,
        ),
    ],
    ids=lambda design: f"{design.scenario}-{design.n_labeled}-{design.aucs}-{design.correlation}",
)
def test_paired_intervals_hold_the_difference_as_often_as_they_say(design, target):
    with labels_as_given():
        held, widths = paired_coverage(design, target, runs=RUNS)
    # Three standard errors of 200 runs, and what the bounds of benchmarks.coverage allow.
    slack = 3 * math.sqrt(0.95 * 0.05 / RUNS)
    low, high = (0.9, 0.99) if design.n_labeled == 20 else (0.925, 0.98)
    for name in METRICS:
        assert low - slack <= held[name] <= high + slack, (name, held)
    assert max(widths["aul"], widths["f1"]) < (0.9 if design.correlation == 0.5 else 0.7)
