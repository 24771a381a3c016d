"""mlflow.models.evaluate with an audit among its keys."""

from __future__ import annotations

import mlflow
import numpy as np
import pandas as pd
import pytest

import pumonitor
from pumonitor import audit_plan
from pumonitor.views.estimates import logged_estimates


def test_an_audit_is_read_with_the_column_of_ids(
    sqlite: str, window: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    window["order"] = [f"order {row}" for row in range(len(window))]
    labels, scores, ids = window["confirmed"], window["score"], window["order"]
    plan = pumonitor.plan_audit(labels, scores, threshold=1.0, cases=60, class_prior=0.2)
    drawn = pumonitor.draw_audit(ids, labels, scores, plan=plan, seed="March")
    rng = np.random.default_rng(3)
    audit = pumonitor.read_verdicts(drawn, {one.id: int(rng.random() < 0.2) for one in drawn.cases})
    result = mlflow.models.evaluate(
        data=window,
        targets="confirmed",
        predictions="score",
        model_type="pu",
        evaluators="pu",
        evaluator_config={
            "threshold": 1.0,
            "audit": audit,
            "ids": "order",
            "label_origin": "both",
        },
    )
    ev = pumonitor.evaluate(labels, scores, threshold=1.0, audit=audit, ids=ids)
    assert ev["f1"].method == "audit"
    assert result.metrics == logged_estimates(ev.estimates)
    page = result.artifacts["pu/report"].content
    assert "With and without the audit" in page
    assert {"pu/audit_frequency", "pu/audit_positives"} <= set(result.artifacts)
