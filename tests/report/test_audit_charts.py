"""Charts of an audit show the numbers of its score bins."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import pumonitor
from pumonitor import audit_plan
from pumonitor.report.audit_charts import audit_width_chart, with_and_without_chart
from pumonitor.report.charts import build_chart, chart_names, chart_of, to_svg
from pumonitor.report.figures import audit_figures
from pumonitor.results import Evaluation
from pumonitor.text import given_text
from tests.report.by_vega import check_same

ROWS, THRESHOLD = 3000, 2.0


@pytest.fixture(scope="module")
def both() -> tuple[Evaluation, Evaluation, audit_plan.AuditPlan]:
    """With an audit, without, and its plan."""
    rng = np.random.default_rng(7)
    positive = rng.random(ROWS) < 0.1
    scores, ids = rng.normal(2.0 * positive).round(3), np.arange(ROWS)
    labels = (positive & (rng.random(ROWS) < 0.3)).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        plan = pumonitor.plan_audit(
            labels, scores, threshold=THRESHOLD, cases=120, class_prior=0.1, metrics=["f1", "auc"]
        )
    drawn = pumonitor.draw_audit(ids, labels, scores, plan=plan, seed="March")
    verdicts = {case.id: int(positive[int(case.id)]) for case in drawn.cases}
    audit = pumonitor.read_verdicts(drawn, verdicts)
    found = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit, ids=ids)
    plain = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, class_prior=0.1)
    return found, plain, plan


@pytest.fixture(scope="module")
def charts(both: Any) -> dict[str, Any]:
    """The two that there are with an audit alone, as Altair takes them too."""
    for name in ("audit_frequency", "audit_positives"):
        build_chart(both[0], name).to_dict()
    return {name: chart_of(both[0], name) for name in ("audit_frequency", "audit_positives")}


def inline(chart: Any) -> list[list[dict[str, Any]]]:
    """Rows of the data of each layer."""
    json.dumps(chart, allow_nan=False)
    return [layer["data"]["values"] for layer in chart["layer"]]


def test_an_evaluation_without_an_audit_has_none_of_its_charts(both: Any, charts: Any) -> None:
    found, plain, _ = both
    extra = {"audit_frequency", "audit_positives"}
    # An audit says what the class prior is: there is nothing to ask of others.
    assert set(chart_names(found)) == set(chart_names(plain)) - {"sensitivity"} | extra
    assert set(charts) == extra
    with pytest.raises(ValueError, match="evaluate without the audit"):
        found.sensitivity("f1")
    assert audit_figures(plain, None) == []


def test_the_share_confirmed_stands_beside_that_of_all_scores(both: Any, charts: Any) -> None:
    found = both[0]
    layers = inline(charts["audit_frequency"])
    overall = found["label_frequency"]
    assert layers[0] == [{"low": overall.low, "value": overall.value, "high": overall.high}]
    bins, shown = layers[-1], found.audit.by_bin()[::-1]
    assert [one["frequency"] for one in bins] == [one["frequency"] for one in shown]
    # The threshold stands below the last bin that is predicted positive, the highest being above.
    (rule,) = [one for one in charts["audit_frequency"]["layer"] if one["data"]["values"] == [{}]]
    height = charts["audit_frequency"]["height"]["step"]
    place = int(rule["encoding"]["y"]["value"] / height)
    assert bins[place - 1]["score"] == f"from {THRESHOLD:g}"
    assert [one["above"] for one in bins] == [True] * place + [False] * (len(bins) - place)


def test_they_are_drawn_as_vega_draws_them(both: Any, charts: Any) -> None:
    for chart in (*charts.values(), with_and_without_chart(*both[:2])):
        check_same(chart)


def test_parts_of_the_positives_add_up(both: Any, charts: Any) -> None:
    found = both[0]
    parts = inline(charts["audit_positives"])[0]
    for one in found.audit.by_bin():
        name = "lowest" if one["from"] is None else f"from {given_text(one['from'])}"
        by = {row["part"]: row["positives"] for row in parts if row["score"] == name}
        assert by["Confirmed"] == one["labeled"]
        assert by["Found by the audit"] == one["positive"]
        assert sum(by.values()) == pytest.approx(one["positives"])
        end = max(row["end"] for row in parts if row["score"] == name)
        assert end == pytest.approx(one["positives"])


def test_with_and_without_show_the_numbers_of_both(both: Any) -> None:
    found, plain, _ = both
    rows = inline(with_and_without_chart(found, plain))[0]
    for what, of in (("With it", found), ("Without the audit", plain)):
        shown = [row["value"] for row in rows if row["what"] == what]
        names = ("class_prior", "precision", "recall", "f1", "auc")
        assert shown == [of[name].displayed[0] for name in names]
    assert [one.name for one in audit_figures(found, plain)] == [
        "with_and_without",
        "audit_frequency",
        "audit_positives",
    ]


def test_widths_fall_with_cases_and_the_simple_audit_is_never_narrower(
    both: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    plan = both[2]
    rows = plan.widths_by_cases()
    for name in ("f1", "auc"):
        of_name = [row for row in rows if row["metric"] == name]
        assert [row["cases"] for row in of_name] == [30, 60, 120, 240, 480]
        assert of_name[0]["width"] > of_name[-1]["width"]
        assert all(row["width"] <= row["simple"] <= 1 for row in of_name)
    svg = to_svg(audit_width_chart(rows, cases=plan.cases))
    assert "A simple audit" in svg
    assert "AUC" in svg
