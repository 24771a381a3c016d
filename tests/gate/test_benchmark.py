"""The benchmark of the gate in short: equal models, a better one, labels that one model chose."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from benchmarks import datasets
from pumonitor.gate import GateSettings, judge


@pytest.fixture(scope="module")
def gating() -> ModuleType:
    try:
        datasets.load_table("covertype_16pct")
    except datasets.DatasetMissingError as error:
        pytest.skip(str(error))
    from benchmarks.challengers import gating

    return gating


def test_a_truly_better_model_is_promoted_and_an_equal_one_is_not(gating: ModuleType) -> None:
    rng = np.random.default_rng(0)
    promoted = {0.0: 0, 0.02: 0}
    for difference in promoted:
        known = gating.models(difference)
        for _ in range(12):
            weeks = []
            for _ in range(26):
                rows = gating.window(known, rng, rows=4000, equal=difference == 0)
                weeks.append(gating.paired(rows, gating.fair_labels(rows, 20, rng)))
            promoted[difference] += any(
                gating.is_better(weeks[: 1 + week], "aul") for week in range(26)
            )
    assert promoted[0.02] >= 10
    assert promoted[0.0] <= 1


def test_labels_of_reviews_judge_nobody_and_an_audit_between_does(gating: ModuleType) -> None:
    known = gating.models(0.032, metric="recall")
    settings = GateSettings(better="recall", capacity=gating.CAPACITY)
    rng = np.random.default_rng(1)
    verdicts = []
    for _ in range(12):
        rows = gating.window(known, rng)
        labels = gating.reviewed_labels(rows, 0.0, rng)
        seen = {"one": [gating.paired(rows, labels)]}
        assert judge(seen, settings)["one"].verdict == "cannot be judged"
        audit = gating.audit_between(rows, labels, 200, rng)
        verdicts.append(judge(seen, settings, audits={"one": [audit]})["one"].verdict)
    assert verdicts.count("better") >= 7
    assert "worse" not in verdicts


def test_reviews_are_seen_where_a_fifth_of_the_other_rows_is_reviewed_too(
    gating: ModuleType,
) -> None:
    known = gating.models(0.032, metric="recall")
    settings = GateSettings(better="recall", capacity=gating.CAPACITY)
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(60):
        rows = gating.window(known, rng)
        seen = {"one": [gating.paired(rows, gating.reviewed_labels(rows, 0.2, rng))]}
        found += judge(seen, settings)["one"].verdict == "cannot be judged"
    assert found == 60
