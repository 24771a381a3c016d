"""What is kept of the newest panes is what all results say, whatever happened to them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, Table, delete, select, update

from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    headline_results,
    newest_panes,
    panes,
    results,
    windows,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import (
    EvaluatedPane,
    PublishedResult,
)
from pumonitor.monitor.ledger.results.newest_panes import point_to_newest
from tests.monitor.ledger.kept_beside_results import (
    as_rows,
    check_newest,
    evaluate_one,
    judged,
    newest_from_results,
)
from tests.monitor.ledger.monitored_days import (
    AGES,
    CONFIGURATION,
    MONITOR,
    collected,
    counted,
    day,
    key,
    panes_of,
    planned,
    run_out,
)


@pytest.mark.parametrize("seed", range(2))
def test_they_are_what_all_results_say_after_any_history(ledger: Ledger, seed: int) -> None:
    """Windows in any order, panes one by one and together, repeats, and lost claims."""
    rng = random.Random(seed)  # noqa: S311
    planned(ledger, 4)
    moments = [day(number).end + age for number in range(4) for age in AGES]
    for _ in range(25):
        step = rng.choice(["collect", "evaluate", "evaluate", "again", "die", "release"])
        now = rng.choice(moments)
        if step == "collect":
            claim = ledger.claim_collect("collector", now=now)
            if claim is not None:
                ledger.commit_collect(claim, counted(claim, digest=str(rng.random())))
        elif step == "evaluate":
            evaluate_one(ledger, rng)
        elif step == "again":
            ledger.reopen([key(rng.randrange(2))], which="all", actor="test")
        elif step == "die":
            claim = ledger.claim_evaluate("dies")
            run_out(ledger)
            evaluate_one(ledger, rng)
            if claim is not None:
                with pytest.raises(StaleClaimError):
                    ledger.commit_evaluate(claim, judged(claim, rng))
        else:
            claim = ledger.claim_evaluate("fails")
            if claim is not None:
                ledger.release(claim, error="no")
                run_out(ledger)
        check_newest(ledger)
    assert ledger.results() == tuple(_sorted(newest_from_results(ledger)[CONFIGURATION]))
    assert ledger.results(MONITOR)


def _sorted(rows: list[PublishedResult]) -> list[PublishedResult]:
    names = ("monitor", "window_start", "model_version", "segment", "metric")
    return sorted(rows, key=lambda one: tuple(getattr(one, name) for name in names))


def test_an_earlier_pane_that_comes_later_does_not_replace_a_newer_one(ledger: Ledger) -> None:
    rng = random.Random(1)  # noqa: S311
    planned(ledger, 1)
    collected(ledger)
    evaluate_one(ledger, rng)
    with ledger.database.writing() as connection:
        connection.execute(update(panes).where(panes.c.number == 0).values(status="collected"))
        connection.execute(update(windows).values(evaluated_panes=2))
    evaluate_one(ledger, rng)

    with ledger.database.reading() as connection:
        revisions = dict(connection.execute(select(panes.c.number, panes.c.revision)).all())  # type: ignore[arg-type]
        states = set(connection.scalars(select(newest_panes.c.state)))
    assert revisions[0] > revisions[2]
    assert states == {"final"}
    check_newest(ledger)


def test_a_window_that_lost_its_predictions_is_gone(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluate_one(ledger, random.Random(1))  # noqa: S311
    ledger.reopen([key(0)], which="all", actor="test")
    collected(ledger, digest="e")
    claim = ledger.claim_evaluate("evaluator")
    assert claim is not None
    ledger.commit_evaluate(claim, [EvaluatedPane(number=one.pane.number) for one in claim.panes])

    assert ledger.newest_with_results(MONITOR) is None
    assert ledger.newest_mature(MONITOR) == {}
    check_newest(ledger)


def test_deleted_results_leave_what_was_before_them(ledger: Ledger) -> None:
    planned(ledger, 2)
    for _ in range(2):
        collected(ledger)
        evaluate_one(ledger, random.Random(2))  # noqa: S311
    with ledger.database.writing() as connection:
        _forget(connection, key(0), from_pane=2)
        _forget(connection, key(1), from_pane=0)
        point_to_newest(connection, [key(0), key(1)])

    check_newest(ledger)
    assert {one.state for one in ledger.results()} == {"mature"}
    assert {one.window_start for one in ledger.results()} == {day(0).start}


def _forget(connection: Connection, of: str, *, from_pane: int) -> None:
    for table in (results, evaluations):
        connection.execute(delete(table).where(table.c.window_key == of, table.c.pane >= from_pane))
    connection.execute(
        update(panes)
        .where(panes.c.window_key == of, panes.c.number >= from_pane)
        .values(revision=None)
    )


def test_each_configuration_has_its_own(ledger: Ledger) -> None:
    rng = random.Random(3)  # noqa: S311
    planned(ledger, 2)
    collected(ledger)
    evaluate_one(ledger, rng)
    ledger.register_monitor(MONITOR, "beef", meaning={"threshold": 0.7})
    ledger.plan(MONITOR, "beef", panes_of(day(0)))
    collected(ledger)
    evaluate_one(ledger, rng)
    check_newest(ledger)

    assert {one.window_start for one in ledger.results()} <= {day(0).start, day(1).start}
    before = ledger.newest_results()
    ledger.register_monitor(MONITOR, CONFIGURATION, meaning={"threshold": 0.8})
    assert as_rows(ledger.newest_results()) != as_rows(before)
    check_newest(ledger)


def test_a_ledger_of_the_version_before_is_filled(
    filled: Ledger, open_ledger: Callable[..., Ledger]
) -> None:
    """Two configurations, windows of all states: without the tables, at the step before them."""
    filled.register_monitor(MONITOR, "beef", meaning={"threshold": 0.7})
    filled.plan(MONITOR, "beef", panes_of(day(0)))
    collected(filled)
    evaluate_one(filled, random.Random(6))  # noqa: S311
    before = {table.name: _content(filled, table) for table in (newest_panes, headline_results)}
    assert min(map(len, before.values())) > 10
    # Not as a writing transaction, which counts itself in a table of a later step.
    with filled.database.engine.begin() as connection:
        for table in (headline_results, newest_panes):
            table.drop(connection)
        later = ("review_readings", "review_verdicts", "review_cases", "review_audits")
        for table in (
            *later,
            "page_sessions",
            "tokens",
            "write_count",
            "notes",
            "challenger_windows",
            "noted_challengers",
            "deployed_versions",
            "promotions",
        ):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("ALTER TABLE monitors DROP COLUMN last_evaluated_at")
        connection.exec_driver_sql("DROP INDEX ix_panes_superseded")
        for column in ("superseded_at", "forgotten_at"):
            connection.exec_driver_sql(f"ALTER TABLE panes DROP COLUMN {column}")
        connection.exec_driver_sql("DROP INDEX ix_windows_refused")
        for column in ("refused_look", "accepted_look"):
            connection.exec_driver_sql(f"ALTER TABLE windows DROP COLUMN {column}")
        for column in ("set_aside", "looked_at", "problem", "problem_since"):
            connection.exec_driver_sql(f"ALTER TABLE standings DROP COLUMN {column}")
        for table in ("alert_states", "alert_transitions"):
            connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN joined")
        connection.exec_driver_sql("ALTER TABLE alert_transitions DROP COLUMN onset")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0007'")
    filled.close()

    again = open_ledger()

    check_newest(again)
    for table in (newest_panes, headline_results):
        assert _content(again, table) == before[table.name]


def _content(ledger: Ledger, table: Table) -> list[str]:
    with ledger.database.reading() as connection:
        return sorted(map(str, connection.execute(select(table)).all()))
