"""Nothing degrades and reports come ten days late: what the monitor records, and scikit-learn says.

Every eighth day of `benchmarks/monitoring/ten_days_late.py`, whose figures are of all days.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from benchmarks.monitoring.ten_days_late import (
    FIRST,
    Design,
    Late,
    expectations,
    monitored,
    on_the_last_day,
    picture,
    standard_f1,
    true_f1,
)
from pumonitor.report.theme import to_png

pytestmark = pytest.mark.slow

DESIGN = Design(every=8, ages=(0, 10))


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Late:
    return monitored(tmp_path_factory.mktemp("late"), DESIGN, seed=1)


@pytest.fixture(scope="module")
def days(late: Late) -> pd.DataFrame:
    return on_the_last_day(late)


def test_the_simulation_is_what_it_says(late: Late) -> None:
    rows = late.rows
    assert f1_score(rows["is_positive"], rows["score"] >= 0.5) == pytest.approx(
        true_f1(), abs=0.005
    )
    positive = rows[rows["is_positive"]]
    assert positive["confirmed_at"].notna().mean() == pytest.approx(0.6, abs=0.015)
    delay = (positive["confirmed_at"] - positive["scored_at"]).dt.total_seconds() / 86_400
    assert delay.mean() == pytest.approx(DESIGN.delay, abs=0.4)
    assert rows[~rows["is_positive"]]["confirmed_at"].isna().all()


def test_the_standard_tool_shows_it_falling_tenfold(days: pd.DataFrame) -> None:
    mature = days[days["age"] >= DESIGN.maturity]["standard"]
    newest = days[days["age"] == 0]["standard"].item()
    assert mature.mean() / newest > 8
    # Beyond what its mature windows scatter by, and so are the windows before the newest.
    young = days[(days["age"] > 0) & (days["age"] < 15)]["standard"]
    assert young.max() < mature.min()


def test_our_naive_f1_is_that_of_scikit_learn_at_every_pane(late: Late) -> None:
    told = [look for look in late.looks if "f1_pu" in look.numbers]
    # With fewer than two labels there is no table yet.
    assert len(told) >= len(late.looks) - 2
    for look in told:
        of_day = late.rows[late.rows["day"] == look.day]
        as_of = FIRST + timedelta(days=look.day + 1 + look.age)
        known = standard_f1(of_day, as_of=as_of)
        assert look.numbers["f1_pu"][0] == pytest.approx(known, abs=1e-12)


def test_estimates_stay_level_and_their_intervals_hold_the_truth(days: pd.DataFrame) -> None:
    mature = days[days["age"] >= DESIGN.maturity]
    assert len(mature) == 9
    assert mature["f1"].mean() == pytest.approx(true_f1(), abs=0.04)
    slope, _ = np.polyfit(mature["day"], mature["f1"], 1)
    # Over all mature windows, less than three of what windows scatter by.
    scatter = mature["f1"].std() / np.sqrt(np.sum((mature["day"] - mature["day"].mean()) ** 2))
    assert abs(slope) < 3 * scatter
    assert abs(slope) * 90 < 0.1
    # Nor do those fall whose labels are still arriving; with hardly any they are wide.
    young = days[days["looked_at"] == 10]
    assert len(young) == 4
    assert young["f1"].mean() == pytest.approx(true_f1(), abs=0.06)
    newest = days[days["looked_at"] == 0]
    assert newest["standard"].mean() < 0.5 * mature["standard"].mean()
    assert days["holds"].mean() >= 0.9


def test_what_windows_are_expected_to_become_is_what_they_become(late: Late) -> None:
    told = pd.DataFrame(expectations(late), columns=["age", "metric", "held", "width"])
    labels = told[told["metric"] == "labeled_positives"]
    assert set(labels["age"]) == {0, 10}
    assert len(labels) >= 7
    for _, of_age in told.groupby("age"):
        assert of_age["held"].mean() >= 0.9
    for metric in ("labeled_positives", "f1", "f1_pu", "auc", "aul", "class_prior"):
        assert told[told["metric"] == metric]["held"].mean() >= 0.85, metric


def test_the_picture_is_one(days: pd.DataFrame) -> None:
    drawn = to_png(picture(days, DESIGN), scale=0.5)
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) > 5000
