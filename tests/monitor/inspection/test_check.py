"""What a check makes of errors and of the calendar."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.errors import InputError, SourceError
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.inspection.check_monitor import check_monitor, windows_due
from pumonitor.ports import SourceDescription

TEXT = """\
monitors:
  fraud:
    predictions: {source: {url: "${URL}", table: scores}, id: id, time: time, score: score}
    positives: {source: c.csv, id: id, known_at: known}
    window: 1d
    zone: Europe/Berlin
    maturity: 8d
    threshold: 0.5
"""
CANARY = "kanarienvogel"
CONFIGURATION = read_configuration_text(
    TEXT, environment={"URL": f"postgresql://me:{CANARY}@host/scores"}
).configuration
MONITOR = CONFIGURATION.monitors["fraud"]
# Midnight in Berlin.
FIRST = datetime(2026, 3, 27, 23, tzinfo=UTC)


def described(first, last):
    return SourceDescription(
        engine="duckdb",
        columns={},
        label_columns={},
        sample=[],
        label_sample=[],
        predictions=1,
        labels=0,
        first=first,
        last=last,
    )


@pytest.mark.parametrize(
    ("kind", "failure"),
    [(InputError, "input"), (SourceError, "operation"), (RuntimeError, "operation")],
)
def test_an_error_that_quotes_its_address_does_not_get_through(kind, failure):
    def open_source(monitor):
        raise kind(f"cannot connect to {monitor.predictions.source.address}, password {CANARY}")

    found = check_monitor(
        MONITOR, now=FIRST, mask=CONFIGURATION.mask, open_source=open_source
    ).outcome
    assert found.failure == failure
    assert "cannot connect to" in found.message
    assert CANARY not in found.message


def test_windows_are_due_with_the_panes_whose_moment_has_come():
    # The second day has 23 hours: the clocks go forward on 29 March.
    last = datetime(2026, 3, 30, 12, tzinfo=UTC)
    ends = [datetime(2026, 3, day, 22, tzinfo=UTC) for day in (29, 30)]
    # Panes after 0, 2, 4, 8 and 16 days. The first day ends on the 28th at 23:00 UTC.
    first_end = FIRST + timedelta(days=1)
    for now, windows, panes, following in (
        (first_end - timedelta(minutes=1), 0, 0, first_end),
        (first_end, 1, 1, ends[0]),
        (ends[0], 2, 2, ends[1]),
        (ends[1], 3, 3, first_end + timedelta(days=2)),
        (first_end + timedelta(days=8), 4, 13, ends[0] + timedelta(days=8)),
    ):
        due = windows_due(MONITOR, described(FIRST, last), now=now)
        assert (due.windows, due.panes, due.following.as_of) == (windows, panes, following)
        assert due.mature == (now == first_end + timedelta(days=8))
    # The first window in which nothing was predicted is due too, and none after it.
    late = windows_due(MONITOR, described(FIRST, last), now=first_end + timedelta(days=16))
    assert (late.windows, late.first, late.panes) == (4, FIRST, 5 + 3 * 4)
    assert late.last == first_end + timedelta(days=3) - timedelta(hours=1)


def test_what_is_evaluated_is_not_due_again():
    now = FIRST + timedelta(days=3)
    found = described(FIRST, now)
    # Three days have ended; the first has been looked at twice, the second and third once each.
    all_due = windows_due(MONITOR, found, now=now)
    starts = [one.start for one in MONITOR.windows.between(FIRST, now)]
    done = {(starts[0], 0), (starts[0], 1), (starts[1], 0)}
    left = windows_due(MONITOR, found, now=now, evaluated=done)
    assert (left.panes, left.evaluated) == (all_due.panes - 3, 3)
    assert left.following == all_due.following
    assert left.first == starts[2]
    # A moment of another look, or of a window that nobody predicted in, is not in the way.
    assert windows_due(MONITOR, found, now=now, evaluated={(starts[0], 9)}) == all_due


def warnings_of(monitor=MONITOR, **found):
    last = datetime(2026, 3, 28, 12, tzinfo=UTC)
    description = replace(described(FIRST, last), **{"labels": 40, **found})

    class Source:
        def describe(self):
            return description

        def close(self):
            pass

    checked = check_monitor(monitor, now=last, mask=str, open_source=lambda monitor: Source())
    assert checked.outcome.failure is None
    return list(checked.warnings)


@pytest.mark.parametrize(
    ("found", "warning"),
    [
        (
            {"labels": 0},
            "c.csv has no confirmations: every estimate is undefined until",
        ),
        ({}, "none of the 40 labels of c.csv matches a prediction: check id of both"),
        (
            {"delay_quantiles": {0.1: -9.0, 0.5: -5.0, 0.9: 3.0}, "confirmed": 9, "early": 7},
            "7 of 9 confirmed predictions were confirmed before they were made, by a day at most; "
            "they are counted. Check whether known_at is a date without a time of day, and whether",
        ),
        (
            {"confirmed": 40, "refused": 40},
            "40 of 40 confirmed predictions (100%) were confirmed more than a day before they "
            "were made: such labels are not counted; check known_at and time, their time_zone",
        ),
    ],
)
def test_labels_that_tell_nothing_are_a_warning(found, warning):
    (only,) = warnings_of(**found)
    assert only.startswith(warning)


def test_labels_that_fit_are_no_warning():
    assert warnings_of(delay_quantiles={0.1: 0.0, 0.5: 60.0, 0.9: 3600.0}) == []
    # A few that are early are counted with each window.
    assert warnings_of(delay_quantiles={0.1: -60.0, 0.5: 60.0, 0.9: 3600.0}) == []


def test_no_predictions_are_nothing_due():
    due = windows_due(MONITOR, described(None, None), now=FIRST)
    assert (due.windows, due.panes, due.first, due.following) == (0, 0, None, None)
