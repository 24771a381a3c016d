from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.rules.windows.panes import PaneSchedule
from pumonitor.monitor.rules.windows.windows import WindowGrid

WINDOW = WindowGrid(every="1d").containing(datetime(2026, 1, 1, tzinfo=UTC))
DAY = timedelta(days=1)


def test_a_window_is_looked_at_five_times_by_default() -> None:
    panes = PaneSchedule(maturity=40 * DAY).panes(WINDOW)
    assert [pane.as_of - WINDOW.end for pane in panes] == [
        0 * DAY,
        10 * DAY,
        20 * DAY,
        40 * DAY,
        80 * DAY,
    ]
    assert [pane.state for pane in panes] == ["provisional"] * 3 + ["mature", "final"]
    assert [pane.number for pane in panes] == [0, 1, 2, 3, 4]
    assert {pane.window for pane in panes} == {WINDOW}


def test_labels_known_at_once_need_one_pane() -> None:
    panes = PaneSchedule(maturity=timedelta(0)).panes(WINDOW)
    assert [(pane.state, pane.as_of) for pane in panes] == [("mature", WINDOW.end)]


def test_a_pane_is_due_from_its_moment_on() -> None:
    schedule = PaneSchedule(maturity=40 * DAY)
    at = WINDOW.end + 10 * DAY
    assert [pane.number for pane in schedule.due(WINDOW, at)] == [0, 1]
    assert [pane.number for pane in schedule.due(WINDOW, at - timedelta.resolution)] == [0]
    assert schedule.due(WINDOW, WINDOW.end - timedelta.resolution) == ()


def test_provisional_ages_can_be_given() -> None:
    schedule = PaneSchedule(maturity=40 * DAY, provisional=(DAY, 5 * DAY))
    assert schedule.ages == (DAY, 5 * DAY, 40 * DAY, 80 * DAY)
    assert (schedule.mature, schedule.state(1), schedule.state(2)) == (2, "provisional", "mature")
    assert PaneSchedule(maturity=40 * DAY, provisional=()).state(0) == "mature"


@pytest.mark.parametrize(
    ("maturity", "provisional", "message"),
    [
        (-DAY, None, r"maturity must not be negative, got -1 day"),
        (4 * DAY, (4 * DAY,), r"below the maturity of 4 days.*got 4 days.*the mature pane"),
        (4 * DAY, (-DAY,), r"from 0 to below the maturity"),
        (4 * DAY, (DAY, DAY), r"must ascend, got 1 day.* after 1 day"),
        (0 * DAY, (0 * DAY,), r"below the maturity of 0:00:00"),
        (9 * DAY, tuple(day * DAY for day in range(7)), r"at most 6 provisional panes.*got 7"),
    ],
)
def test_ages_that_make_no_sense_are_refused(
    maturity: timedelta, provisional: tuple[timedelta, ...] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        PaneSchedule(maturity=maturity, provisional=provisional)
