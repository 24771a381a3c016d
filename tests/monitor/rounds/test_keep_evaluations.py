"""Superseded evaluations are deleted after `keep_evaluations`, and nothing that is needed is."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration, read_configuration_text
from pumonitor.monitor.ledger.database.migrations.upgrade import upgrade
from pumonitor.monitor.ledger.database.schema import (
    alert_progress,
    evaluations,
    panes,
    results,
    series,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.results.retention import Forgotten
from pumonitor.monitor.rules.alerts.health import NoPredictions
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from tests.monitor.alerted_ledger import DAY, FIRST, MONITOR, AlertedLedger, day, known, rows
from tests.monitor.ledger.earlier_steps import take_steps_back_to
from tests.monitor.ledger_content import ledger_content
from tests.monitor.made_up_results import TEXT
from tests.monitor.monitored_shop import SETTLED, recorded, write_shop

KEPT = timedelta(days=30)


@pytest.fixture
def ledger(address):
    with Ledger.open(address) as ledger:
        yield ledger


def passes(ledger, time):
    """As if panes had been evaluated longer ago."""
    with ledger.database.writing() as connection:
        before = ledger.database.now(connection) - time
        connection.execute(
            update(panes).where(panes.c.evaluated_at.is_not(None)).values(evaluated_at=before)
        )
        connection.execute(
            update(panes).where(panes.c.superseded_at.is_not(None)).values(superseded_at=before)
        )


def forget(ledger, **options):
    """All that can be deleted."""
    done = Forgotten()
    while (some := ledger.forget_evaluations(older_than=KEPT, **options)).panes:
        done += some
    return done


def places(ledger, table):
    """Day, pane and revision of the rows of a table."""
    with ledger.database.reading() as connection:
        revision = [table.c.revision] if "revision" in table.c else []
        found = connection.execute(
            select(windows.c.window_start, table.c.pane, *revision)
            .join_from(table, windows, windows.c.window_key == table.c.window_key)
            .distinct()
        )
        return {((row[0] - FIRST).days, *row[1:]) for row in found}


def alerted(ledger, value_of=lambda pane: 0.9, *, provisional=False, **options):
    rule = AlertRule(
        key="below",
        name="too low",
        metric="auc",
        condition=Limit(side="below", limit=0.75),
        provisional=provisional,
    )
    return AlertedLedger(
        ledger,
        [rule],
        lambda pane: {("7", ""): [known("auc", value_of(pane)), rows(1000)]},
        **options,
    )


def test_what_a_mature_pane_replaced_long_ago_is_deleted_and_nothing_else(ledger):
    alerted(ledger).run(FIRST + 4 * DAY)
    before = places(ledger, results)
    assert before == {(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0), (3, 0, 0)}
    counted = places(ledger, series)

    passes(ledger, KEPT - DAY)
    assert forget(ledger) == Forgotten()
    passes(ledger, KEPT + DAY)
    # Of the fourth day the last pane is cited as what the alert's state stands on.
    assert forget(ledger) == Forgotten(panes=2, evaluations=2, results=4)

    assert places(ledger, results) == before - {(0, 0, 0), (1, 0, 0)}
    assert places(ledger, evaluations) == places(ledger, results)
    assert places(ledger, series) == counted
    assert forget(ledger) == Forgotten()


def test_earlier_revisions_go_and_the_newest_stays(ledger):
    values = {"now": 0.9}
    made = alerted(ledger, lambda pane: values["now"])
    made.run(FIRST + 4 * DAY)
    values["now"] = 0.8
    with ledger.database.reading() as connection:
        keys = connection.scalars(select(windows.c.window_key)).all()
    ledger.reopen(keys, which="all", actor="test")
    made.run(FIRST + 4 * DAY)
    assert (0, 1, 1) in places(ledger, results)
    newest = {(0, 1, 3), (1, 1, 3), (2, 0, 1), (3, 0, 1)}
    assert newest < places(ledger, results)

    passes(ledger, KEPT + DAY)
    forget(ledger)

    # What the state of the alert stands on, as of the moment of the second day's mature pane.
    assert places(ledger, results) == newest | {(1, 1, 1)}


def test_what_an_alert_cites_stays(ledger):
    """Provisional panes of the first day fired, and its mature one resolved."""
    made = alerted(ledger, lambda pane: 0.5 + 0.4 * (pane.number > 0), provisional=True)
    made.run(FIRST + 2 * DAY)
    (alert,) = ledger.alerts.current()
    assert alert.is_firing
    made.run(FIRST + 6 * DAY)
    passes(ledger, KEPT + DAY)
    forget(ledger)
    assert ("fired", day(0).end) in made.told("kind", "as_of")
    assert (0, 0, 0) in places(ledger, results)
    assert (1, 0, 0) not in places(ledger, results)


def test_what_a_rule_has_not_come_to_yet_stays(ledger):
    made = alerted(ledger)
    made.plan(range(2))
    made.now = FIRST + 4 * DAY
    made.collect()
    made.evaluate()
    passes(ledger, KEPT + DAY)
    with ledger.database.writing() as connection:
        connection.execute(update(alert_progress).values(as_of=None, window_start=None))
    assert forget(ledger) == Forgotten()
    made.worker().advance(MONITOR)
    assert forget(ledger).evaluations == 2


def test_a_rule_that_comes_later_does_not_take_deleted_panes_for_empty_windows(ledger):
    made = alerted(ledger, provisional=True)
    made.run(FIRST + 6 * DAY)
    passes(ledger, KEPT + DAY)
    assert forget(ledger).evaluations > 2
    later = AlertRule(
        key="empty",
        name="no predictions",
        metric="health:no_data",
        condition=NoPredictions(),
        provisional=True,
    )
    made.rules = (*made.rules, later)
    made.worker().advance(MONITOR)
    assert {one.rule_key for one in ledger.alerts.current()} == {"below", "empty"}
    assert made.told("kind") == []


def test_provisional_panes_stay_until_there_is_a_mature_one(ledger):
    made = alerted(ledger, panes=(timedelta(), DAY), maturity=3 * DAY)
    made.run(FIRST + 3 * DAY)
    before = places(ledger, results)
    assert {(0, 0, 0), (0, 1, 1)} < before
    passes(ledger, KEPT + DAY)
    assert forget(ledger) == Forgotten()
    assert places(ledger, results) == before


def test_batches_are_small_and_other_workers_are_passed_by(ledger):
    alerted(ledger).run(FIRST + 8 * DAY)
    passes(ledger, KEPT + DAY)
    assert ledger.forget_evaluations(older_than=KEPT, limit=2).panes == 2
    assert forget(ledger, limit=2).panes == 4


@pytest.mark.usefixtures("unsearched_labels")
def test_evaluated_again_from_the_same_rows_deleted_evaluations_stay_deleted(tmp_path):
    """Nothing is stored twice and nothing is sent, and all that is left is as before."""
    path = write_shop(tmp_path, days=2, class_prior=0.1, tracking="http://127.0.0.1:9")
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        assert jobs.run().failures == []
        everything = recorded(jobs.ledger)
        passes(jobs.ledger, KEPT + DAY)
        done = forget(jobs.ledger)
        assert done.panes > 0
        left = recorded(jobs.ledger)
        assert set(left) < set(everything)
        assert recorded(jobs.ledger, revisions="latest")
        before = ledger_content(jobs.ledger)
        with jobs.ledger.database.reading() as connection:
            keys = connection.scalars(select(windows.c.window_key)).all()
        jobs.ledger.reopen(keys, which="all", actor="test")
        again = jobs.run()
        assert (again.failures, again.evaluated) == ([], len(keys))
        after = ledger_content(jobs.ledger)
        assert {name for name in after if after[name] != before[name]} <= {"audit"}


def test_a_round_deletes_and_says_so(tmp_path):
    path = write_shop(tmp_path, days=2, class_prior=0.1)
    path.write_text(path.read_text() + "keep_evaluations: 30d\n")
    configuration = read_configuration(path).configuration
    assert configuration.keep_evaluations == KEPT
    with open_jobs(configuration, clock=lambda: SETTLED) as jobs:
        assert jobs.run().forgotten == Forgotten()
        passes(jobs.ledger, KEPT + DAY)
        done = jobs.run().forgotten
        # The days without predictions have nothing to delete.
        assert done.panes > done.evaluations > 0
        assert str(done) == (
            f"{done.evaluations} superseded evaluations of {done.panes} panes deleted "
            "(keep_evaluations)"
        )
        (entry,) = jobs.ledger.audit(actions=["forget evaluations"])
        assert entry.detail["results"] == done.results
        assert jobs.run().forgotten == Forgotten()


def test_without_the_key_all_are_kept(tmp_path):
    path = write_shop(tmp_path, days=1, class_prior=0.1)
    with open_jobs(read_configuration(path).configuration, clock=lambda: SETTLED) as jobs:
        jobs.run()
        passes(jobs.ledger, timedelta(days=4000))
        before = recorded(jobs.ledger)
        assert jobs.run().forgotten == Forgotten()
        assert recorded(jobs.ledger) == before


def test_no_time_at_all_is_refused():
    with pytest.raises(InputError, match="must be longer than 0; leave it out to keep all"):
        read_configuration_text(TEXT + "keep_evaluations: 0d\n", environment={})


def test_the_step_to_this_version_says_what_is_superseded(ledger, address):
    """Of a ledger without the columns as much can be deleted as of one that always had them."""
    values = {"now": 0.9}
    made = alerted(ledger, lambda pane: values["now"])
    made.run(FIRST + 4 * DAY)
    values["now"] = 0.8
    with ledger.database.reading() as connection:
        keys = connection.scalars(select(windows.c.window_key)).all()
    ledger.reopen(keys[:2], which="all", actor="test")
    made.run(FIRST + 4 * DAY)

    def superseded():
        with ledger.database.reading() as connection:
            found = connection.execute(
                select(panes.c.window_key, panes.c.number).where(panes.c.superseded_at.is_not(None))
            )
            return sorted(map(tuple, found))

    before = superseded()
    assert len(before) > 2
    take_steps_back_to(ledger.database, "0012")
    upgrade(ledger.database)
    assert superseded() == before
