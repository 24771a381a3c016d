"""A series that goes on with another model version, whose scores are read once they are known."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pumonitor.prior.followed.followed_prior import FollowedPrior
from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.level import given_level
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def day(number: int, *, with_table: bool = True) -> WindowRows:
    rng = np.random.default_rng(number)
    positive = rng.random(1000) < 0.1
    labels = (positive & (rng.random(1000) < 0.3)).astype(int)
    table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    return WindowRows(
        start=START + number * DAY,
        end=START + (number + 1) * DAY,
        table=table if with_table else None,
        rows=1000,
        confirmed=float(labels.sum()),
    )


@pytest.fixture
def followed() -> FollowedPrior:
    windows = [day(number) for number in range(10)]
    origin = given_level(
        ClassPriorEstimate.given((0.1, 0.08, 0.12)),
        windows,
        start=START,
        end=START + 10 * DAY,
        label_purity=1.0,
    )
    return FollowedPrior.founded(windows, origin, label_purity=1.0).on_another_scale("6")


def test_as_long_as_no_window_shows_its_scores_counts_go_on(followed: FollowedPrior) -> None:
    few = [day(number, with_table=False) for number in (10, 11)]
    again = followed.after(few[0]).after(few[1]).founded_again(few)
    told = again.estimate().diagnostics["over_time"]
    assert (told["index"], told["windows"], told["predecessor"]) == ("counts", 2, "6")


def test_windows_that_show_its_scores_have_them_read(followed: FollowedPrior) -> None:
    some = [day(number) for number in range(10, 14)]
    again = followed.founded_again(some)
    assert again.estimate().diagnostics["over_time"]["index"] == "score"
    low, high = again.estimate().low, again.estimate().high
    assert low < 0.1 < high
