"""The report of an evaluation with an audit says what that assumes, and what it found."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pytest

import pumonitor
from pumonitor import audit_plan
from pumonitor.report.assumptions import assumptions
from pumonitor.report.html import render_html
from pumonitor.results import Evaluation
from pumonitor.text import probability_text

ROWS, THRESHOLD = 6000, 2.0


@pytest.fixture(scope="module")
def audited() -> dict[str, Evaluation]:
    """Unfair labels, and positives that score like anybody: without an audit, and with one."""
    rng = np.random.default_rng(5)
    positive = rng.random(ROWS) < 0.15
    scores = rng.normal(3.0 * (positive & (rng.random(ROWS) < 0.7)))
    labels = (positive & (rng.random(ROWS) < np.where(scores > THRESHOLD, 0.8, 0.25))).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        plan = pumonitor.plan_audit(
            labels, scores, threshold=THRESHOLD, cases=800, class_prior=0.15, metrics=["recall"]
        )
    drawn = pumonitor.draw_audit(range(ROWS), labels, scores, plan=plan, seed="1")
    verdicts = {case.id: int(positive[int(case.id)]) for case in drawn.cases}
    found = {
        fair: pumonitor.evaluate(
            labels,
            scores,
            threshold=THRESHOLD,
            audit=pumonitor.read_verdicts(drawn, verdicts, fair=fair),
        )
        for fair in ("check", "assume")
    }
    return found | {"none": pumonitor.evaluate(labels, scores, threshold=THRESHOLD)}


def page_of(evaluation: Evaluation) -> str:
    text = re.sub(r"<[^>]+>", " ", render_html(evaluation))
    return re.sub(r"\s+", " ", html.unescape(text))


def test_what_is_assumed_is_what_the_audit_assumes(audited: Any) -> None:
    said = assumptions(audited["check"])
    assert said["Fair labels"].startswith("It is not assumed that the confirmed positives are a")
    assert "jump nowhere but at the threshold" in said["Fair labels"]
    fairness = audited["check"].audit.fairness
    assert fairness.p_value < 0.05
    found = f"The audit found that {fairness.sentence} ({probability_text(fairness.p_value)})."
    assert said["Fair labels"].endswith(found)
    assert "drawn at random" in said["The audit"]
    assert "Its verdicts are the truth" in said["The audit"]
    assert "has nothing to do with its score" not in page_of(audited["check"])
    assert "has nothing to do with its score" in page_of(audited["none"])


def test_labels_that_were_taken_for_fair_are_said_to_be(audited: Any) -> None:
    said = assumptions(audited["assume"])["Fair labels"]
    assert said.startswith("As was asked for, confirmed positives are taken for a fair sample")
    assert "The audit found that positives" in said


def test_intervals_of_an_audit_are_about_these_very_cases(audited: Any) -> None:
    for fair in ("check", "assume"):
        ev = audited[fair]
        assert ev.settings["target"] == ev.to_dict()["settings"]["target"] == "window"
        said = assumptions(ev)["What the intervals cover"]
        assert said.startswith("The intervals are about these very cases")
        # No audit estimates the share flagged.
        assert ev["predicted_positive_rate"].low < ev["predicted_positive_rate"].high
        assert said.endswith("share flagged alone allows for other cases having come up.")
    assert audited["none"].settings["target"] == "process"


def test_no_purity_is_advised_that_would_be_refused(audited: Any) -> None:
    assert "label_noise" in {one.name for one in audited["none"].warnings}
    assert "give label_purity=" in page_of(audited["none"])
    for fair in ("check", "assume"):
        assert "label_noise" not in {one.name for one in audited[fair].warnings}
        assert "label_purity=" not in page_of(audited[fair])
