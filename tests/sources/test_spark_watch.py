"""A Spark server that is lost, or too slow, is given up with what to do."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace

import pytest

from pumonitor.errors import SourceError
from pumonitor.sources.windows import spark_watch
from pumonitor.sources.windows.counts_spark import SparkEngine

FOR_EVER = Event()


def session(*, is_lost):
    """One whose statements wait for ever; a server that is lost answers nothing else either."""
    stopped = []
    return SimpleNamespace(
        conf=SimpleNamespace(get=lambda *_: FOR_EVER.wait() if is_lost else "UTC"),
        interruptAll=lambda: stopped.append(True),
        stopped=stopped,
    )


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(spark_watch, "_ASKED_EVERY", 0.01)
    monkeypatch.setattr(spark_watch, "_LONGEST_SILENCE", 0.05)


def asked(given, ask=FOR_EVER.wait, *, timeout=60.0):
    about = "the window from 2026-01-01"
    return spark_watch.answered_in_time(given, ask, about=about, timeout=timeout)


def test_a_lost_server_is_given_up():
    with pytest.raises(SourceError, match=r"has not answered for 0\.05 s; see its log"):
        asked(session(is_lost=True))


def test_what_takes_too_long_is_stopped():
    slow = session(is_lost=False)
    with pytest.raises(SourceError, match=r"2026-01-01 took longer than the 0\.1 s allowed"):
        asked(slow, timeout=0.1)
    assert slow.stopped == [True]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_session_that_was_given_up_is_asked_nothing_more():
    """Its channel is closed, and says so in words that help nobody."""
    given = session(is_lost=True)
    channel = SimpleNamespace(close=lambda: given.stopped.append("channel"))
    client = SimpleNamespace(
        _channel=channel, get_retry_policies=list, set_retry_policies=lambda policies: None
    )
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    vars(connected).update(vars(given), client=client)
    engine, asked_for = SparkEngine(connected), []
    for ask in (FOR_EVER.wait, lambda: asked_for.append("more")):
        with pytest.raises(SourceError, match=r"window 1 cannot be read: the Spark server has not"):
            engine._in_time(ask, "window 1")
    assert (asked_for, given.stopped) == ([], ["channel"])


def test_answers_and_failures_are_passed_on():
    assert asked(session(is_lost=True), lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        asked(session(is_lost=False), lambda: 1 / 0)
