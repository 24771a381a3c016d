"""What to do about an alert follows from its cause."""

from __future__ import annotations

from typing import Any

import pytest

from pumonitor.monitor.config.sections.rules import KINDS as KINDS_OF_RULES
from pumonitor.monitor.rules.causes.named import KINDS
from pumonitor.monitor.rules.causes.next_steps import STEPS, next_steps


def said(metric: str = "auc", **cause: Any) -> str:
    return " ".join(step.action for step in next_steps(metric, cause))


@pytest.mark.parametrize("kind", KINDS)
def test_every_cause_has_steps(kind: str) -> None:
    assert said(kinds=[kind])


@pytest.mark.parametrize("kind", [one.partition(": ")[2] for one in KINDS_OF_RULES if ": " in one])
def test_every_kind_of_health_has_steps_whatever_the_cause(kind: str) -> None:
    assert said(f"health:{kind}") == said(f"health:{kind}", kinds=["ranking"]) != ""


def test_a_worse_ranking_is_not_answered_by_a_threshold() -> None:
    worse = said(kinds=["ranking"], sizes={"auc": {"change": -0.2}})
    assert "Roll back to the version before, if it began with a new version." in worse
    assert "Retrain if neither explains it" in worse
    assert "Let an audit decide" in worse
    assert "Do not move the threshold" in worse


def test_a_better_ranking_asks_for_neither() -> None:
    better = said(kinds=["ranking"], sizes={"auc": {"change": 0.2}})
    assert "no feature tells the confirmation itself" in better
    assert "Retrain" not in better
    of_new_prior = {"auc": {"change": 0.2}, "auc_at_new_prior": {"change": -0.1}}
    assert "Retrain" in said(kinds=["class_prior", "ranking"], sizes=of_new_prior)


def test_another_scale_is_answered_by_a_threshold_and_not_by_training() -> None:
    scale = said(kinds=["score_scale"])
    assert "Recalibrate the threshold if they were meant to change." in scale
    assert "Do not retrain for it." in scale


def test_of_several_causes_each_step_is_said_once() -> None:
    steps = next_steps("f1", {"kinds": ["score_scale", "ranking"]})
    assert len(set(steps)) == len(steps)
    both = [len(STEPS[one].steps) for one in ("score_scale", "ranking")]
    assert len(steps) == sum(both) - 1


def test_without_a_cause_it_is_not_known() -> None:
    assert next_steps("f1", {}) == next_steps("f1", {"kinds": []}) == STEPS["unclear"].steps


def test_an_overdue_audit_is_drawn_by_a_command_that_runs() -> None:
    (step,) = STEPS["health:audit_overdue"].steps
    # The command wants windows: it does not choose them.
    assert "pumonitor audit draw --monitor NAME --windows 2026-03" in str(step)
