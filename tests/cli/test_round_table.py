"""What is said of a round: failures first, then what was done and what waits."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from rich.console import Console

from pumonitor.cli.alerts_shown import _numbers
from pumonitor.cli.round_table import Left, as_json, print_round
from pumonitor.cli.terminal import Console as Terminal
from pumonitor.errors import InputError, SourceError
from pumonitor.monitor.delivery.sending.delivery import Delivery
from pumonitor.monitor.ledger.outbox import Waiting
from pumonitor.monitor.ledger.records.windows import Backlog
from pumonitor.monitor.round import Round


def backlog(left=0):
    return Backlog(windows=9, to_collect=left, to_evaluate=0, failing=0, oldest_unfinished=None)


def said(capsys, done, left=0, waiting=None):
    print_round(Console(width=200), done, Left(backlog=backlog(left), waiting=waiting or {}))
    return capsys.readouterr().out.splitlines()


def test_a_failure_comes_first_and_nothing_is_not_left(capsys):
    done = Round()
    done.failed("card-fraud", SourceError("the warehouse does not answer"))
    assert said(capsys, done) == [
        "Failed: card-fraud: the warehouse does not answer",
        "0 windows collected, 0 evaluated.",
        "Later runs try again what failed; pumonitor doctor shows when.",
    ]
    assert said(capsys, Round(collected=1, evaluated=1)) == [
        "1 window collected, 1 evaluated; nothing is left."
    ]


def test_windows_that_fail_for_one_reason_are_one_line(capsys):
    done = Round()
    for day, rows in ((1, 450), (2, 457), (3, 472)):
        why = InputError(f"known_at has 1 times that are missing in {rows} rows")
        done.failed(f"card-fraud, window of 2026-01-0{day} 00:00 UTC", why)
    done.failed("card-fraud, window of 2026-01-04 00:00 UTC", InputError("another reason"))
    first, others, another, *_ = said(capsys, done)
    assert first.startswith("Failed: card-fraud, window of 2026-01-01 00:00 UTC: known_at has 1")
    assert others == "  2 other windows failed for the same reason"
    assert another == "Failed: card-fraud, window of 2026-01-04 00:00 UTC: another reason"
    assert len(as_json(done, Left(backlog=backlog(), waiting={}))["failures"]) == 4


def waiting(count):
    return Waiting(messages=count, oldest=timedelta(), set_aside=0, last_error=None)


@pytest.mark.parametrize("stopped", ["out of time", "nothing due", "left alone"])
def test_messages_wait_only_where_some_do(capsys, stopped):
    done = Round(
        deliveries={
            "mlflow": Delivery(delivered=3, stopped=stopped),
            "mlflow-files": Delivery(delivered=1, stopped=stopped),
        }
    )
    _, results, reports = said(capsys, done, waiting={"mlflow-files": waiting(25)})
    assert results == "results to MLflow: 3 messages delivered"
    assert reports == "reports to MLflow: 1 message delivered; 25 wait for the next run"
    left = Left(backlog=backlog(), waiting={"mlflow-files": waiting(25)})
    told = as_json(done, left)["deliveries"]
    assert (told["mlflow"]["waiting"], told["mlflow-files"]["waiting"]) == (0, 25)


def test_bad_input_is_counted_apart():
    done, other = Round(), Round()
    done.failed("a", SourceError("down"))
    assert done.bad_input == 0
    other.failed("b", InputError("no such column"))
    done.add(other)
    assert (done.bad_input, done.failures) == (1, ["a: down", "b: no such column"])


@pytest.mark.parametrize(
    ("metric", "numbers", "text"),
    [
        (
            "auc",
            (0.7, 0.65, 0.75, 0.8, 0.9),
            "0.700 (0.650 to 0.750), limit 0.800, reference 0.900",
        ),
        ("health:label_delay", (0.4, 0.3, 0.5, 0.2, None), "40% of the maturity (30% to 50%)"),
        ("health:stale", (7200.0, None, None, 3600.0, None), "2 hours, limit 1 hour"),
        ("health:unmatched_labels", (0.07, None, None, 0.05, None), "7%, limit 5%"),
        ("health:volume", (1200.0, None, None, 900.0, 600.0), "1,200 predictions, limit 900"),
        ("f1", (None, None, None, 0.5, None), ""),
    ],
)
def test_what_is_judged_has_its_unit_and_then_its_limit(metric, numbers, text):
    value, low, high, limit, reference = numbers
    alert = SimpleNamespace(metric=metric, value=value, low=low, high=high, reference=reference)
    found = _numbers(alert, limit)
    assert found.startswith(text)
    assert bool(found) is bool(text)


def test_versions_and_segments_of_what_fires_keep_their_line(capsys):
    alert = SimpleNamespace(
        monitor="card-fraud",
        rule="f1 below 0.5",
        severity="critical",
        model_version="v1\nFiring",
        segment="country=\x1b[31mDE",
        reason="F1 is 0.3\x07",
        evidence="breach",
    )
    left = Left(backlog=backlog(), waiting={}, firing=[alert])
    print_round(Terminal(width=200), Round(), left)
    assert capsys.readouterr().out.splitlines()[-1] == (
        r"Firing, critical: card-fraud (v1\nFiring, country=\x1b[31mDE), f1 below 0.5: "
        r"F1 is 0.3\x07"
    )


def test_what_a_window_without_evidence_says_is_not_why_an_alert_fires(capsys):
    alert = SimpleNamespace(
        monitor="card-fraud",
        rule="health label delay change 50%",
        severity="critical",
        model_version="",
        segment="",
        reason="there are no predictions",
        evidence="no_data",
        firing_since=datetime(2026, 3, 1, tzinfo=UTC),
    )
    left = Left(backlog=backlog(), waiting={}, firing=[alert])
    print_round(Terminal(width=200), Round(), left)
    assert capsys.readouterr().out.splitlines()[-1] == (
        "Firing, critical: card-fraud, health label delay change 50%: fires since 2026-03-01 00:00 "
        "UTC; the newest window does not decide it: there are no predictions"
    )
