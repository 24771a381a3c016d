from __future__ import annotations

import numpy as np
import pytest

import pumonitor
from pumonitor.report.html import render_html
from pumonitor.results import Evaluation


def _simulated(seed: int, size: int, share: float, labeled: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    is_positive = rng.random(size) < share
    scores = 1 / (1 + np.exp(-(rng.normal(1.5 * is_positive) * 1.5 - 2)))
    return is_positive & (rng.random(size) < labeled), scores


@pytest.fixture(scope="session")
def usual() -> Evaluation:
    labels, scores = _simulated(1, 20_000, 0.05, 0.3)
    return pumonitor.evaluate(labels, scores, threshold=0.6, class_prior=(0.05, 0.04, 0.06))


@pytest.fixture(scope="session")
def impossible() -> Evaluation:
    """The twelve easiest positives confirmed and far too high a class prior."""
    rng = np.random.default_rng(5)
    is_positive = rng.random(400) < 0.15
    scores = rng.normal(2.0 * is_positive)
    positives = np.flatnonzero(is_positive)
    labels = np.zeros(400, dtype=int)
    labels[positives[np.argsort(-scores[positives])[:12]]] = 1
    return pumonitor.evaluate(labels, scores, threshold=1.6, class_prior=0.5)


@pytest.fixture(scope="session")
def nothing_flagged() -> Evaluation:
    labels, scores = _simulated(5, 400, 0.15, 0.3)
    return pumonitor.evaluate(labels, scores, threshold=30.0, class_prior=0.15)


@pytest.fixture(scope="session")
def case_control() -> Evaluation:
    rng = np.random.default_rng(3)
    unlabeled = rng.normal(1.5 * (rng.random(5_000) < 0.1))
    labeled = np.concatenate([rng.normal(1.5, 1, 180), rng.normal(0, 1, 20)])
    return pumonitor.evaluate(
        np.repeat([1, 0], [200, 5_000]),
        np.concatenate([labeled, unlabeled]),
        threshold=1.5,
        class_prior=(0.1, 0.08, 0.13),
        scenario="case-control",
        label_purity=0.9,
        target="process",
        top_k=500,
    )


@pytest.fixture(scope="session")
def impossible_page(impossible: Evaluation) -> str:
    return render_html(impossible)


@pytest.fixture(scope="session")
def case_control_page(case_control: Evaluation) -> str:
    return render_html(case_control, title="Chargebacks", context={"Model": "version 3"})


@pytest.fixture(scope="session")
def nothing_flagged_page(nothing_flagged: Evaluation) -> str:
    return render_html(nothing_flagged)


@pytest.fixture(params=["usual", "impossible", "nothing_flagged", "case_control"])
def any_evaluation(request: pytest.FixtureRequest) -> Evaluation:
    evaluation: Evaluation = request.getfixturevalue(request.param)
    return evaluation
