"""What was expected beside what became of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.results.read_realised import Realised
from pumonitor.monitor.reports.realised_looks import realised_looks
from tests.monitor.alerted_ledger import FIRST, AlertedLedger, known

START = datetime(2026, 1, 10, tzinfo=UTC)
DAY = timedelta(days=1)


def window(number, *, became, look=0, age=DAY, version="1"):
    start = START - number * DAY
    return Realised(start, start + DAY, version, look, start + DAY + age, 0.5, 0.7, 0.6, became)


def test_windows_are_counted_look_by_look():
    found = realised_looks(
        [
            window(0, became=0.65),
            window(0, became=0.65, look=1, age=3 * DAY),
            window(1, became=0.75),
            window(2, became=0.5),
        ]
    )
    assert [(one.look, one.windows, one.inside, one.age) for one in found] == [
        (0, 3, 2, DAY),
        (1, 1, 1, 3 * DAY),
    ]
    assert found[0].mean_error == pytest.approx((0.05 + 0.15 - 0.1) / 3)


def test_as_many_as_promised_are_not_too_few():
    # Of 40 windows 35 or fewer are inside with probability .048, 34 or fewer with .014.
    for inside, is_too_few in ((38, False), (35, False), (34, True)):
        values = [0.6] * inside + [0.9] * (40 - inside)
        [found] = realised_looks([window(place, became=one) for place, one in enumerate(values)])
        assert found.inside == inside
        assert found.is_too_few is is_too_few


def test_nothing_is_nothing():
    assert realised_looks([]) == []


def test_model_versions_of_one_window_are_counted_apart():
    found = realised_looks([window(0, became=0.6), window(0, became=0.9, version="2")])
    assert [(one.model_version, one.windows, one.inside) for one in found] == [
        ("1", 1, 1),
        ("2", 1, 0),
    ]


def test_what_became_of_a_window_is_its_mature_value_and_not_its_final_one(tmp_path):
    at = {"provisional": "recall_expected", "mature": "recall", "final": "recall"}
    values = {"provisional": 0.8, "mature": 0.8, "final": 0.9}
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as ledger:
        days = AlertedLedger(
            ledger, [], lambda pane: {("1", ""): [known(at[pane.state], values[pane.state])]}
        )
        days.run(FIRST + 6 * DAY)
        newest = ledger.results("card-fraud", since=FIRST, until=FIRST + DAY)
        assert [(one.state, one.value) for one in newest] == [("final", 0.9)]
        [found] = ledger.realised("card-fraud", "recall", until=FIRST + DAY)
    assert (found.expected, found.became) == (0.8, 0.8)
