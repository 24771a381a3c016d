"""A round reads verdicts that have changed, evaluates with them, and deletes ids in time."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from pumonitor.audit.ordering import draw_key
from pumonitor.errors import SourceError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.audits.in_rounds import read_verdicts_in_round
from pumonitor.monitor.audits.reading import given_verdicts, lines_digest
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database.schema import review_audits
from pumonitor.monitor.ledger.records.audits import DrawnWindow, ReviewCase, StoredAudit
from pumonitor.monitor.round import Round
from tests.monitor.monitored_shop import FIRST, write_shop

DAY = timedelta(days=1)
NOW = FIRST + 8 * DAY
VERDICTS = (
    "    audits: {keep_cases: 90d, verdicts: {source: verdicts.csv, at: at, reviewer: who}}\n"
)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    """Two days of a shop that are evaluated, and an audit of the first."""
    folder = tmp_path_factory.mktemp("shop")
    path = write_shop(folder, days=2, class_prior=0.1, panes="[]", maturity=DAY)
    path.write_text(path.read_text() + VERDICTS)
    with open_jobs(read_configuration(path).configuration, clock=lambda: NOW) as found:
        found.folder = folder  # type: ignore[attr-defined]
        assert round_of(found).failures == []
        draw(found)
        yield found


def round_of(jobs: Jobs) -> Round:
    return jobs.run(budget=timedelta())


def draw(jobs: Jobs) -> None:
    monitor = jobs.monitors["card-fraud"]
    window = DrawnWindow(
        start=FIRST, end=FIRST + DAY, as_of=FIRST + 2 * DAY, rows=(500, 100), labeled=(5, 20)
    )
    jobs.ledger.reviews.add(
        StoredAudit(
            name="a1",
            monitor="card-fraud",
            configuration=configuration_hash(monitor),
            model_version="",
            windows=(window,),
            drawn_at=NOW,
            actor="somebody",
            threshold=0.5,
            fair="check",
            seed="s",
            edges=(0.5,),
            planned=(1, 2),
        ),
        [
            ReviewCase(
                number=place + 1,
                keyed=draw_key("s", str(place)),
                id=str(place),
                bin=min(place, 1),
                inclusion=0.1,
                kind="case",
                window_start=FIRST,
            )
            for place in range(3)
        ],
    )
    # Drawn before the verdicts, whatever the database's clock says.
    with jobs.ledger.database.writing() as connection:
        connection.execute(update(review_audits).values(drawn_at=FIRST + 5 * DAY))


def write(folder: Path, *lines: tuple[str, str, str, str]) -> None:
    with (folder / "verdicts.csv").open("w") as file:
        csv.writer(file).writerows([("id", "verdict", "at", "who"), *lines])


def test_verdicts_are_read_once_they_are_there(jobs: Jobs) -> None:
    folder = jobs.folder  # type: ignore[attr-defined]
    assert round_of(jobs).evaluated == 0
    write(folder, ("0", "1", "2026-01-07", "ann"), ("9", "1", "", "ann"), ("1", "", "", ""))
    first = round_of(jobs)
    assert (first.failures, first.evaluated) == ([], 3)
    (audit,) = jobs.ledger.read_audits(
        "card-fraud", configuration_hash(jobs.monitors["card-fraud"])
    )
    assert (audit.unread, sum(audit.by_window[FIRST].positive)) == (2, 1)
    readings = jobs.ledger.reviews.readings("card-fraud")
    assert {one.audit: (one.added, dict(one.refused)) for one in readings} == {
        "a1": (1, {}),
        None: (0, {"not_drawn": 1}),
    }
    assert round_of(jobs).evaluated == 0
    assert jobs.ledger.reviews.readings("card-fraud") == readings
    # The same lines in another order are the same.
    write(folder, ("1", "", "", ""), ("0", "1", "2026-01-07", "ann"), ("9", "1", "", "ann"))
    assert round_of(jobs).evaluated == 0
    write(folder, ("0", "0", "2026-01-08", "ann"))
    assert round_of(jobs).evaluated == 3


def _read(jobs: Jobs, done: Round, *, now: datetime) -> None:
    monitor = jobs.monitors["card-fraud"]
    read_verdicts_in_round(monitor, jobs.ledger, now=now, on_failure=done.failed)


def test_what_cannot_be_read_stops_nothing_else(jobs: Jobs) -> None:
    folder = jobs.folder  # type: ignore[attr-defined]
    (folder / "verdicts.csv").write_text("name,verdict,at,who\n1,1,,\n")
    done = round_of(jobs)
    assert done.bad_input == 1
    assert "card-fraud, verdicts on audits: " in done.failures[0]
    assert "has no column 'id'" in done.failures[0]
    (folder / "verdicts.csv").unlink()
    assert round_of(jobs).failures == []


def test_ids_are_deleted_when_they_were_kept_long_enough(
    jobs: Jobs,
) -> None:
    assert {one.id for one in jobs.ledger.reviews.cases("a1")} == {"0", "1", "2"}
    _read(jobs, Round(), now=FIRST + 96 * DAY)
    assert {one.id for one in jobs.ledger.reviews.cases("a1")} == {None}


def test_times_are_those_of_the_zone_and_dates_the_ends_of_days() -> None:
    at = ["2026-03-01", "2026-03-01 12:00", "2026-03-01T12:00Z", "", None, "soon"]
    lines = given_verdicts(
        {"id": ["1"] * 6, "verdict": ["1"] * 6, "at": at}, zone="Europe/Berlin", reviewer="ann"
    )
    found = [None if one.at is None else f"{one.at:%m-%d %H:%M}" for one in lines]
    assert found == ["03-01 22:59", "03-01 11:00", "03-01 12:00", None, None, None]
    assert [one.is_time_unread for one in lines] == [False] * 5 + [True]
    assert {one.reviewer for one in lines} == {"ann"}
    assert lines_digest(lines) == lines_digest(lines[::-1])


def test_a_database_that_is_down_is_said(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SourceError("the warehouse is down")

    monkeypatch.setattr("pumonitor.monitor.audits.reading.read_configured", fail)
    done = Round()
    _read(jobs, done, now=NOW)
    assert done.failures == ["card-fraud, verdicts on audits: the warehouse is down"]
    assert done.bad_input == 0
