"""`evaluate(auxiliary=)`: the class prior from features where the deployed score is broken."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pumonitor
from pumonitor.errors import InputError

ROWS, PRIOR = 30_000, 0.06


def broken(rows: int = ROWS, *, c: float = 0.4) -> tuple[pd.DataFrame, Any, Any, Any]:
    """Features that tell positives, a score that has lost half of what they say."""
    rng = np.random.default_rng(11)
    is_positive = rng.random(rows) < PRIOR
    labels = (is_positive & (rng.random(rows) < c)).astype(int)
    features = pd.DataFrame(
        {
            "x": rng.normal(2.2 * is_positive),
            "z": rng.normal(1.8 * is_positive),
            "shop": np.where(rng.random(rows) < 0.3 + 0.4 * is_positive, "new", "old"),
            "customer": rng.integers(0, 9000, rows),
        }
    )
    # x is lost, z is cut off at 1.
    odds = np.minimum(features["z"], 1) + 0.3 * rng.random(rows)
    return features, labels, 1 / (1 + np.exp(-odds)), is_positive


@pytest.mark.slow
def test_the_class_prior_stays_right_where_the_score_does_not() -> None:
    features, labels, scores, is_positive = broken()
    alone = pumonitor.evaluate(labels, scores)
    helped = pumonitor.evaluate(
        labels, scores, auxiliary=features[["x", "z", "shop"]], groups=features["customer"]
    )
    assert alone.class_prior.low > 2 * PRIOR
    assert abs(helped.class_prior.value / PRIOR - 1) < 0.25
    assert helped.class_prior.low < PRIOR < helped.class_prior.high
    assert helped.class_prior.diagnostics["index"] == "auxiliary"
    # All else is of the deployed score.
    auc = pumonitor.evaluate(is_positive, scores, class_prior=float(is_positive.mean()))["auc"]
    assert alone["auc"].low > auc.value + 0.02
    assert helped["auc"].low < auc.value < helped["auc"].high
    assert helped["aul"].value == alone["aul"].value
    json.dumps(helped.to_dict(), allow_nan=False)
    again = pumonitor.evaluate(
        labels,
        scores,
        auxiliary=features[["x", "z", "shop"]].to_dict("list"),
        groups=[f"{one}" for one in features["customer"]],
    )
    assert again.to_dict() == helped.to_dict()


def test_with_too_few_labels_the_scores_are_read_and_it_is_said() -> None:
    features, labels, scores, _ = broken(8000, c=0.2)
    assert 80 < labels.sum() < 150
    found = pumonitor.evaluate(labels, scores, auxiliary=features[["x", "z"]])
    (warning,) = [one for one in found.warnings if one.name == "auxiliary_left_out"]
    assert warning.severity == "warning"
    assert (
        f"needs 150 confirmed positives to be trained, better 900, and there are {labels.sum()}"
        in (warning.sentence)
    )
    assert found.class_prior == pumonitor.evaluate(labels, scores).class_prior


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_prior": 0.05}, r"class_prior=0\.05 already gives it"),
        ({"label_frequency": 0.4}, "label_frequency already gives it"),
        ({"auxiliary": None}, "groups say which rows of auxiliary"),
        ({"groups": [1, 2]}, "'groups' has 2 for 30000 labels"),
        ({"groups": np.full(ROWS, 0.5)}, "groups must be text or whole numbers"),
        ({"auxiliary": [[1.0]]}, "'0' has 1 for 30000 labels"),
        ({"auxiliary": {"x": [np.nan] * ROWS}}, "'x' is missing in all 30000 rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    features, labels, scores, _ = broken()
    given = {"auxiliary": features[["x"]], "groups": features["customer"]} | options
    with pytest.raises((InputError, ValueError), match=message):
        pumonitor.evaluate(labels, scores, **given)
