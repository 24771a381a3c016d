"""An estimate never stands outside the interval behind it, whichever sentence prints them."""

import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pumonitor.diagnostics.impossible_prior import came_out_impossible
from pumonitor.monitor.charts.time_series import value_text
from pumonitor.monitor.delivery.notifications.promotion_words import difference_said
from pumonitor.monitor.delivery.notifications.words import details
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.rules.alerts.change import _by
from pumonitor.monitor.rules.alerts.label_delay import _Times
from pumonitor.monitor.rules.alerts.prior_shift import _evidence as prior_evidence
from pumonitor.monitor.rules.alerts.prior_shift import _Posterior
from pumonitor.monitor.rules.alerts.rule import Reading
from pumonitor.monitor.rules.alerts.shift import _reason
from pumonitor.monitor.rules.alerts.usable import stated
from pumonitor.monitor.rules.causes.amounts import change, ratio
from pumonitor.monitor.rules.causes.by_audits import _ranking_in_words, _times
from pumonitor.monitor.rules.causes.named import Size
from pumonitor.monitor.rules.detectors import Detection
from pumonitor.names import estimate_with_interval
from pumonitor.ports import Window
from pumonitor.prior.followed.in_words import prior_origin

START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOW = Window(start=START, end=START + timedelta(days=1), index=3)
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
WITH_INTERVAL = re.compile(rf"({NUMBER})%?(?: \w+)? \(({NUMBER})%? to ({NUMBER})%?\)")

numbers = st.floats(-5, 5).map(lambda number: round(number, 3))
triples = st.tuples(numbers, numbers, numbers).map(sorted)
positive = st.tuples(*[st.floats(0.01, 5)] * 3).map(sorted)


def shift(low, value, high, direction="down"):
    found = Detection(
        index=3,
        kind="breach",
        limit=1.0,
        direction=direction,
        size=value,
        size_low=low,
        size_high=high,
    )
    return _reason("f1", Reading(value=0.5), found, START, needed=20)


def size(low, value, high):
    return Size(before=1.0, now=1.0, change=value, low=low, high=high)


def triple(low, value, high, **others):
    return SimpleNamespace(low=low, value=value, high=high, **others)


def notified(low, value, high):
    about = Transition(
        monitor="shop",
        rule_key="5f0c",
        model_version="",
        segment="",
        incident=1,
        kind="fired",
        rule="f1 below 0.5",
        metric="f1",
        severity="critical",
        window_start=WINDOW.start,
        window_end=WINDOW.end,
        as_of=WINDOW.end,
        value=value,
        low=low,
        high=high,
        sentence="",
    )
    message = SimpleNamespace(transition=about, runbook="", links={}, late=False)
    return dict(details(message))["F1"]


def moved_prior(low, value, high):
    posterior = _Posterior(
        level=Reading(value=0.1, low=0.05, high=0.2),
        factor=Reading(value=value, low=low, high=high),
        chance=0.9,
    )
    return prior_evidence(
        SimpleNamespace(window=WINDOW), posterior, bad=True, odds=9.0, since=START
    ).reason


def founded_prior(low, value, high):
    level = {
        "source": "auto",
        "value": value / 10,
        "low": low / 10,
        "high": high / 10,
        "windows": 13,
        "start": START.isoformat(),
        "end": (START + timedelta(days=13)).isoformat(),
    }
    said = prior_origin({"level": level, "windows": 41, "moved": 0.02, "index": "score"})
    return said.replace("%", "")


OF_ANY = {
    "a fall": shift,
    "a rise": lambda *ends: shift(*ends, direction="up"),
    "a change since the reference": lambda *ends: _by(triple(*ends)),
    "a metric": lambda *ends: stated("f1", triple(*ends)),
    "a difference in a cause": lambda *ends: change(size(*ends)),
    "AUC by audits": lambda *ends: _ranking_in_words(
        triple(*ends, before=0.9, after=0.8, change=ends[1])
    ),
    "a chart": lambda low, value, high: value_text(value, low, high),
    "a table of alerts": lambda low, value, high: estimate_with_interval("f1", value, low, high),
    "a notification": notified,
    "an impossible number": lambda low, value, high: came_out_impossible(
        "f1", triple(low, value, high), value
    ),
    "a promotion": lambda low, value, high: difference_said(
        SimpleNamespace(difference=value, low=low, high=high)
    ),
}
OF_POSITIVE = {
    "delays": lambda low, value, high: str(_Times(value=value, low=low, high=high)),
    "a ratio in a cause": lambda *ends: ratio(size(*ends)),
    "a ratio by audits": lambda *ends: _times(triple(*ends)),
    "a class prior that moved": moved_prior,
    "where a class prior comes from": founded_prior,
}
quick = settings(max_examples=60, deadline=None, derandomize=True)


def check(said):
    for found in WITH_INTERVAL.findall(said):
        value, low, high = (float(number.replace(",", "")) for number in found)
        assert low <= value <= high, said
    return len(WITH_INTERVAL.findall(said))


@pytest.mark.parametrize("sentence", OF_ANY)
def test_estimates_of_any_sign_stand_within_their_interval(sentence):
    @quick
    @given(triples)
    def of_all(ends):
        check(OF_ANY[sentence](*ends))

    of_all()
    assert check(OF_ANY[sentence](-0.3, -0.1, 0.2)) == 1


@pytest.mark.parametrize("sentence", OF_POSITIVE)
def test_positive_estimates_stand_within_their_interval(sentence):
    @quick
    @given(positive)
    def of_all(ends):
        check(OF_POSITIVE[sentence](*ends))

    of_all()
    assert check(OF_POSITIVE[sentence](0.5, 0.7, 0.9)) == 1
