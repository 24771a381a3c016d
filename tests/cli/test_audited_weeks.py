"""`pumonitor audit` of weekly windows, of which some wait for labels and some for verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pumonitor import audit_plan
from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.windows.audited_weeks import FIRST, WEEK, draw, review, write_weeks

NOW = FIRST + 4 * WEEK + timedelta(days=1)
"""Two of four weeks of January are mature."""


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of two weeks audits were drawn; the first one was read."""
    folder = tmp_path_factory.mktemp("weeks")
    truth = write_weeks(
        folder,
        weeks=4,
        rows=3000,
        reference=1,
        more="    class_prior: 0.1\n    audits: {cases: 60}\n",
    )
    configuration = read_configuration(truth.path).configuration
    with open_jobs(configuration, clock=lambda: NOW, deliver=False) as jobs:
        assert jobs.run().failures == []
        review(jobs.ledger, draw(jobs.ledger, truth, "first", weeks=(0,)))
        draw(jobs.ledger, truth, "second", weeks=(1,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        yield truth.path


def run(path: Path, *given: str) -> str:
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, ["audit", *given, "--monitor", "weekly", "--config", str(path)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_plan_names_the_windows_that_it_takes_and_those_that_wait(weeks: Path) -> None:
    said = " ".join(run(weeks, "plan", "--windows", "2026-01").split())
    assert "From 2 windows: 2026-01-05, 2026-01-12 UTC" in said
    assert (
        "Not from 2 windows that are not evaluated as mature yet: 2026-01-19 (mature on "
        "2026-02-09 00:00 UTC), 2026-01-26 (mature on 2026-02-16 00:00 UTC)"
    ) in said
    written = json.loads(run(weeks, "plan", "--windows", "2026-01", "--json"))
    assert written["windows"] == ["2026-01-05T00:00:00+00:00", "2026-01-12T00:00:00+00:00"]
    assert [one["mature_at"][:10] for one in written["windows_waiting"]] == [
        "2026-02-09",
        "2026-02-16",
    ]
    assert "Not from" not in run(weeks, "plan", "--windows", "2026-01-05")


def test_the_newest_audit_with_verdicts_is_shown_and_that_a_newer_one_waits(weeks: Path) -> None:
    said = run(weeks, "show")
    assert "Audit second, which is newer, waits for verdicts: pumonitor audit read" in said
    assert "Audit first, drawn on" in said
    written = json.loads(run(weeks, "show", "--json"))
    assert (written["audit"], written["waiting"]) == ("first", ["second"])
    assert "waits for" not in run(weeks, "show", "first")
