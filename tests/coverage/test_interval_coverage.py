"""Seeded coverage of nominal 95% intervals on a small grid; the full one is benchmarks.coverage."""

import pytest

from benchmarks.coverage import METRICS, coverage
from benchmarks.simulation import Design
from tests.frozen import assert_as_frozen, shares

FEW, MANY = 40, 250


def slow(design: Design):
    return pytest.param(design, marks=pytest.mark.slow)


def test_intervals_of_a_window_hold_where_its_class_prior_is_uncertain():
    """With nine tenths of the positives labeled it says how much of the window is unknown."""
    design = Design(
        scenario="single-training-set", n_labeled=50, class_prior=0.1, auc=0.9, label_frequency=0.9
    )
    held = coverage(design, "window", runs=FEW, prior_spread=0.3)
    for name in METRICS:
        assert held[name] >= shares(FEW), (name, held)


@pytest.mark.parametrize("runs", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize(
    "design",
    [
        Design(scenario="single-training-set", n_labeled=20, class_prior=0.1, auc=0.9),
        slow(Design(scenario="single-training-set", n_labeled=50, class_prior=0.3, auc=0.7)),
        Design(scenario="case-control", n_labeled=20, class_prior=0.1, auc=0.7),
        slow(Design(scenario="single-training-set", n_labeled=20, class_prior=0.1, auc=0.98)),
        slow(Design(scenario="case-control", n_labeled=50, class_prior=0.02, auc=0.9)),
        slow(
            Design(
                scenario="single-training-set",
                n_labeled=50,
                class_prior=0.1,
                auc=0.8,
                label_frequency=0.8,
            )
        ),
        Design(
            scenario="single-training-set", n_labeled=100, class_prior=0.1, auc=0.85, decimals=1
        ),
    ],
    ids=lambda design: f"{design.scenario}-{design.n_labeled}-{design.class_prior}-{design.auc}",
)
def test_intervals_hold_the_truth_as_often_as_they_say(design, target, runs, request):
    held = coverage(design, target, runs=runs)
    # 95% less what so few runs can miss it by, and the two and a half points that 20 labeled
    # positives are allowed.
    slack = 0.025 if design.n_labeled == 20 else 0.0
    for name in METRICS:
        assert held[name] >= shares(runs) - slack, (name, held)
    if runs == MANY:
        assert min(held.values()) < 1.0
        assert_as_frozen(request, held)
