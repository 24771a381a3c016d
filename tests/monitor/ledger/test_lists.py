"""Long lists are read in stretches: together they are the list, whatever is added meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.alerted_ledger import DAY, FIRST, AlertedLedger
from tests.monitor.dashboard.shop_pages import results_of

KEY = ("monitor", "window_start", "model_version", "segment", "metric", "revision")


def storable(pane):
    """Results under names that PostgreSQL takes."""
    return {
        (version, segment.replace("\x00", "")): found
        for (version, segment), found in results_of(pane).items()
    }


@pytest.fixture
def days(address):
    with Ledger.open(address) as ledger:
        found = AlertedLedger(ledger, (), storable)
        for day in range(1, 5):
            found.run(FIRST + day * DAY + timedelta(minutes=1))
        yield found


def keys_of(columns):
    return list(zip(*(getattr(columns, name) for name in KEY), strict=True))


def all_keys(ledger, *, limit, **chosen):
    found, after = [], None
    for _ in range(200):
        some, after = ledger.results_after(
            after, monitors=["card-fraud", "other"], limit=limit, **chosen
        )
        found += keys_of(some)
        if after is None:
            return found
    raise AssertionError(found)


@pytest.mark.parametrize("limit", [1, 7, 1000])
@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"revisions": "all"},
        {"metrics": ["recall", "f1"]},
        {"segment": "", "model_version": "1"},
        {"since": FIRST + DAY, "until": FIRST + 3 * DAY},
        {"states": ["provisional"]},
    ],
)
def test_stretches_together_are_all_results(days, limit, chosen):
    wanted = [
        tuple(getattr(row, name) for name in KEY)
        for row in days.ledger.results("card-fraud", **chosen)
    ]
    assert wanted
    assert all_keys(days.ledger, limit=limit, **chosen) == wanted


def test_windows_that_are_added_meanwhile_come_last_and_once(days):
    first, after = days.ledger.results_after(None, monitors=["card-fraud"], limit=20)
    days.run(FIRST + 6 * DAY)
    rest = []
    while after is not None:
        some, after = days.ledger.results_after(after, monitors=["card-fraud"], limit=20)
        rest += keys_of(some)
    places = [key[:5] for key in [*keys_of(first), *rest]]
    assert len(set(places)) == len(places)
    assert max(key[1] for key in places) == FIRST + 5 * DAY


def test_monitors_that_are_not_asked_for_are_not_in_a_list(days):
    some, after = days.ledger.results_after(None, monitors=["other"], limit=20)
    assert (len(some), after) == (0, None)


@pytest.mark.parametrize("limit", [1, 4])
def test_windows_come_newest_first(days, limit):
    wanted = days.ledger.windows("card-fraud")[::-1]
    found, before, more = [], None, True
    while more:
        some, more = days.ledger.windows_before(before, monitor="card-fraud", limit=limit)
        assert len(some) <= limit
        found += some
        before = found[-1].window.start
    assert tuple(found) == wanted
