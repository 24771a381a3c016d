"""Figure 3 of the AUL paper: classifiers of AUL and of AUC on rows held out."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.challengers import learning
from benchmarks.challengers.learning import Task
from benchmarks.reproduce import aul_learners as figure


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of data sets, which need not be there."""
    rng = np.random.default_rng(0)
    positive = rng.random(1200) < 0.4
    features = rng.normal(positive[:, np.newaxis], size=(1200, 3))
    made = Task(features=features, positive=positive)
    monkeypatch.setattr(figure, "task", lambda name: made)


def test_the_figure_has_both_metrics_and_what_is_judged() -> None:
    done = []
    found = figure._figure3("concrete", 3, lambda ready, of: done.append((ready, of)))
    names = [one.name for one in found.figures]
    assert [name for name in names if name.startswith("AUC of PU_AUL")] == [names[0], names[-1]]
    judged = found.figures[-1]
    assert judged.ours == pytest.approx(found.figures[0].ours - found.figures[1].ours)
    assert 0.75 < found.figures[0].ours < 0.95
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert figure.points(found.series).to_dict()["mark"]["type"] == "point"


def test_a_draw_without_least_loss_is_said_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([0.8, float("nan"), 0.6, 0.9, 0.7, float("nan")])
    monkeypatch.setattr(figure, "held_out_auc", lambda *_: next(values))
    found = figure._figure3("concrete", 2, lambda ready, of: None)
    by_name = {one.name: one for one in found.figures}
    assert by_name["AUC of PU_AUC, true class prior"].ours == 0.7
    assert "In 1 of 2 draws" in by_name["AUC of PU_AUC, true class prior"].why
    ahead = by_name["AUC of PU_AUL less that of PU_AUC with the true class prior"]
    assert ahead.ours == pytest.approx(0.2)
    assert learning.NINE[0] in {row.data[0] for row in figure.ROWS}
