"""What a round writes down of its looks, and what every command then says of a monitor."""

import json
from datetime import datetime, timedelta

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import SourceError
from pumonitor.monitor.app import open_jobs, open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.inspection.doctor import examine
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
NAME = "card-fraud"


@pytest.fixture
def shop(tmp_path):
    return write_shop(tmp_path, days=1, panes="[0d]", class_prior=0.1)


def a_round(path, now, **options):
    """A round at that time, and the condition after it."""
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False, **options) as jobs:
        jobs.run()
        (view,) = read_conditions(jobs.ledger, jobs.monitors, now=now)
    return view


def condition_at(path, now):
    configuration = read_configuration(path).configuration
    with open_ledger(configuration) as ledger:
        (view,) = read_conditions(ledger, configuration.monitors, now=now)
    return view


def refuse(monitor):
    message = f"{monitor.name} does not answer"
    raise SourceError(message)


def test_tables_that_do_not_answer_are_a_condition_until_they_do(shop):
    now = FIRST + 1.5 * DAY
    assert a_round(shop, now).condition == "fine"
    first = a_round(shop, now + DAY, open_source=refuse)
    again = a_round(shop, now + 2 * DAY, open_source=refuse)
    for view in (first, again):
        assert (view.condition, view.since) == ("source unreachable", now + DAY)
        assert view.sentence == "its tables cannot be read: card-fraud does not answer"
    assert a_round(shop, now + 2 * DAY + HOUR).condition == "fine"


def test_tables_that_stop_answering_as_windows_are_counted_are_one_too(shop):
    """Nothing had to be planned: the pane that is due is asked for."""
    assert a_round(shop, FIRST + 1.5 * DAY).condition == "fine"
    now = FIRST + 1.75 * DAY
    with open_jobs(read_configuration(shop).configuration, deliver=False) as jobs:
        keys = [record.window_key for record in jobs.ledger.windows(NAME)]
        jobs.ledger.reopen(keys, which="all", actor="test")
    assert a_round(shop, now, open_source=refuse).condition == "source unreachable"
    assert a_round(shop, now + HOUR, open_source=refuse).since == now


def test_a_monitor_on_which_nobody_works_is_late(shop):
    now = FIRST + 1.5 * DAY
    a_round(shop, now)
    for days, condition in ((0, "fine"), (2.4, "fine"), (2.6, "late"), (400, "late")):
        view = condition_at(shop, now + days * DAY)
        assert view.condition == condition, days
    assert view.since == now
    assert "looked at it for 400 windows" in view.sentence
    # Somebody who looks every Monday is not late before the day after.
    weekly = shop.read_text().replace("    window: 1d", '    schedule: "0 6 * * 1"\n    window: 1d')
    shop.write_text(weekly)
    for days, condition in ((4, "no data"), (5, "late")):
        # 1 January 2026 is a Thursday; that the predictions have ended was known by then.
        assert condition_at(shop, FIRST + days * DAY + HOUR).condition == condition


def test_a_look_is_written_down_once_a_minute_and_alone_moves_no_answer(shop):
    now = FIRST + 1.5 * DAY

    def looked(moment):
        a_round(shop, moment)
        with open_ledger(read_configuration(shop).configuration) as ledger:
            return ledger.standings.all()[NAME].looked_at, ledger.writes()

    _, writes = looked(now)
    assert looked(now + timedelta(seconds=30)) == (now, writes)
    assert looked(now + HOUR) == (now + HOUR, writes)


def test_every_command_says_the_same(shop):
    runner = CliRunner(env={"COLUMNS": "300", "NO_COLOR": "1", "TERM": "dumb"})

    def invoke(*arguments):
        return runner.invoke(app, [*arguments, "--config", str(shop)]).stdout

    invoke("run")
    said = "no data since 2026-01-01 23:"
    for command in ("run", "insights"):
        assert f"card-fraud: {said}" in invoke(command)
    (complaint,) = json.loads(invoke("doctor", "--json"))
    assert complaint["what"].startswith(f"card-fraud: {said}")
    (shop.parent / "predictions.parquet").unlink()
    ran = json.loads(invoke("run", "--json"))
    (view,) = ran["conditions"]
    assert view["condition"] == "source unreachable"
    assert json.loads(invoke("insights", "--json"))[0]["condition"] == view
    for command in ("run", "insights"):
        assert f"card-fraud: source unreachable since {view['since'][:10]}" in invoke(command)
    since = datetime.fromisoformat(view["since"])
    found = examine(read_configuration(shop).configuration, now=utc_now())
    assert since <= utc_now()
    assert [complaint.severity for complaint in found] == ["error"]
