"""The class prior of the windows up to one, as a report draws it and `results` tells of it."""

import json
from datetime import timedelta

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.insights import insight_of, prior_notes
from pumonitor.monitor.reports.window_files import prior_history
from tests.monitor.made_up_results import TEXT, record, write_made_up
from tests.monitor.monitored_shop import FIRST

DAY = timedelta(days=1)


def of_window(pane):
    """A class prior that doubles on the third day; that of the fifth is not known."""
    day = (pane.window.start - FIRST) // DAY
    if day == 4:
        return {"made_with": {"seed": 1, "class_prior": None}}
    value = 0.05 if day < 2 else 0.1
    return {
        "made_with": {
            "seed": 1,
            "class_prior": {
                "value": value,
                "low": 0.5 * value,
                "high": 1.5 * value,
                "diagnostics": {"over_time": over_time(day)},
            },
        }
    }


def over_time(day):
    changed = {"class prior": 2.0} if day >= 2 else {}
    names = ("class_prior", "label_frequency", "ranking", "negatives")
    return {
        "level": {
            "source": "given",
            "value": 0.05,
            "low": 0.04,
            "high": 0.06,
            "start": FIRST.isoformat(),
            "end": (FIRST + DAY).isoformat(),
            "windows": 13,
            "confirmed": 400,
        },
        "windows": day + 1,
        "index": "score",
        "predecessor": "2" if day == 3 else None,
        "moved": 0.99 if changed else 0.01,
        "changes": {"prior": 0.9, "nothing": 0.1} if day == 2 else {"nothing": 1.0},
        "since_reference": {name: {"chance": 0.95 if changed else 0.01} for name in names},
        "explanations": [{"changed": list(changed), "chance": 0.95, "factors": changed}],
        "own": None if day == 1 else {"value": 0.3, "low": 0.1, "high": 0.4},
    }


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    path = write_made_up(tmp_path_factory.mktemp("followed"))
    record(path, [0, 1, 2, 3, 4, 5], series=(("2", ""), ("3", "country=FR")), evaluation=of_window)
    with open_ledger(read_configuration(path, needs="ledger").configuration) as opened:
        yield opened


def test_windows_up_to_one_are_drawn_and_none_that_came_later(ledger):
    (fourth,) = ledger.evaluations("card-fraud", start=FIRST + 3 * DAY, segment="")
    history = prior_history(fourth, ledger)
    assert [one.start for one in history.points] == [FIRST + day * DAY for day in range(4)]
    assert [one.value for one in history.points] == [0.05, 0.05, 0.1, 0.1]
    assert [one.own for one in history.points] == [0.3, None, 0.3, 0.3]
    assert history.version is None
    assert history.points[2].changes == {"prior": 0.9, "nothing": 0.1}
    assert (history.level.value, history.level.end, history.level.given) == (
        0.05,
        FIRST + DAY,
        True,
    )


def test_windows_of_the_version_before_come_first_and_the_change_is_marked(tmp_path, address):
    path = write_made_up(tmp_path, TEXT.replace("sqlite:///state.db", address))
    record(path, [0, 1, 2], series=(("2", ""),), evaluation=of_window)
    record(path, [3], series=(("2", ""), ("3", "")), evaluation=of_window)
    with open_ledger(read_configuration(path, needs="ledger").configuration) as opened:
        (found,) = opened.evaluations("card-fraud", start=FIRST + 3 * DAY, model_version="3")
        history = prior_history(found, opened)
    assert len(history.points) == 4
    assert history.version == (FIRST + 3 * DAY, "3")


def test_a_window_without_a_class_prior_is_left_out_and_has_no_picture(ledger):
    (sixth,) = ledger.evaluations("card-fraud", start=FIRST + 5 * DAY, segment="")
    assert [one.start for one in prior_history(sixth, ledger).points][-2:] == [
        FIRST + 3 * DAY,
        FIRST + 5 * DAY,
    ]
    (fifth,) = ledger.evaluations("card-fraud", start=FIRST + 4 * DAY, segment="")
    assert prior_history(fifth, ledger) is None


def test_a_single_window_and_a_class_prior_that_is_not_followed_have_no_picture(ledger, tmp_path):
    (first,) = ledger.evaluations("card-fraud", start=FIRST, segment="")
    assert prior_history(first, ledger) is None
    path = write_made_up(tmp_path)
    record(path, [0, 1, 2])
    with open_ledger(read_configuration(path, needs="ledger").configuration) as other:
        (third,) = other.evaluations("card-fraud", start=FIRST + 2 * DAY)
        assert prior_history(third, other) is None
        assert prior_notes(other, other.results("card-fraud")) == []


SAID = (
    "Given as 5.0% (4.0 to 6.0%) for 1 January 2026 and followed through 4 windows since. Since "
    "then the share of positives has about doubled."
)


def test_results_and_insights_say_the_same_of_the_newest_window(ledger):
    until = FIRST + 4 * DAY
    rows = ledger.results("card-fraud", until=until)
    assert prior_notes(ledger, rows) == [f"class_prior of 2026-01-04, version 2: {SAID}"]
    assert prior_notes(ledger, rows, segment="country=FR") == [
        f"class_prior of 2026-01-04, version 3: {SAID}"
    ]
    assert prior_notes(ledger, []) == []
    no_prior = ledger.results("card-fraud", until=FIRST + 5 * DAY)
    assert prior_notes(ledger, no_prior) == []
    insight = insight_of(ledger, "card-fraud", now=FIRST + 30 * DAY)
    told = json.loads(json.dumps(insight.to_dict()))["latest"]
    assert {one["class_prior_said"] for one in told} == {SAID.replace("4 windows", "6 windows")}
