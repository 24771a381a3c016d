"""The auxiliary score in the ledger, and what is seen by it, in both databases."""

from __future__ import annotations

from dataclasses import replace

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.results.auxiliary import (
    AuxiliarySeries,
    StoredAuxiliary,
    panes_without_auxiliary,
    store_auxiliary,
    store_auxiliary_series,
    stored_auxiliary,
    stored_auxiliary_series,
    training_panes,
)
from tests.monitor.ledger.monitored_days import (
    AGES,
    CONFIGURATION,
    FIRST,
    LONG_AFTER,
    MONITOR,
    TABLE,
    day,
    key,
    planned,
)

SCORE = StoredAuxiliary(
    hash="a" * 64,
    as_of=day(1).end + AGES[1],
    first_start=FIRST,
    last_start=day(1).start,
    facts={"auc": {"value": 0.9, "low": 0.8, "high": None}},
    score=b"PUA1",
)


def collected(ledger: Ledger, days: int) -> None:
    """Two versions and a segment; the second day has more."""
    planned(ledger, days)
    while (claim := ledger.claim_collect("worker", now=LONG_AFTER)) is not None:
        counts = {"labeled": 3 + claim.window.index % 2, "unlabeled": 90, "negative": 1}
        ledger.commit_collect(
            claim,
            [
                CollectedPane(
                    number=one.pane.number,
                    digest="d",
                    counts={},
                    series=[
                        CollectedSeries(
                            model_version=version, segment=segment, table=TABLE, delays=counts
                        )
                        for version in ("1", "2")
                        for segment in ("", "country=DE")
                    ],
                )
                for one in claim.panes
            ],
        )


def test_mature_panes_are_counted_over_versions(ledger: Ledger) -> None:
    collected(ledger, 4)
    with ledger.database.reading() as connection:
        found = training_panes(
            connection,
            MONITOR,
            CONFIGURATION,
            mature=1,
            since=day(1).start,
            through=day(3).start,
            as_of=day(2).end + AGES[1],
            most=10,
        )
    assert [one.window for one in found] == [day(1), day(2)]
    assert [one.as_of for one in found] == [day(1).end + AGES[1], day(2).end + AGES[1]]
    labeled = [3 + day(number).index % 2 for number in (1, 2)]
    assert [(one.confirmed, one.rows) for one in found] == [(2 * k, 2 * (k + 91)) for k in labeled]


def test_a_score_is_kept_once_until_it_is_forgotten(ledger: Ledger) -> None:
    collected(ledger, 1)
    database = ledger.database
    with database.writing() as connection:
        store_auxiliary(connection, database, MONITOR, CONFIGURATION, SCORE)
        # Another worker was slower.
        other = replace(SCORE, hash="b" * 64)
        store_auxiliary(connection, database, MONITOR, CONFIGURATION, other)
        store_auxiliary_series(connection, key(0), 1, [look("1")])
    with database.reading() as connection:
        assert stored_auxiliary(connection, MONITOR, CONFIGURATION) == SCORE
        assert stored_auxiliary(connection, MONITOR, "other") is None
    assert ledger.forget_auxiliary(MONITOR, CONFIGURATION)
    assert not ledger.forget_auxiliary(MONITOR, CONFIGURATION)
    with database.reading() as connection:
        assert stored_auxiliary_series(connection, [(key(0), 1)]) == {}


def look(version: str, **changes: object) -> AuxiliarySeries:
    found = AuxiliarySeries(model_version=version, segment="", hash=SCORE.hash, table=TABLE)
    return replace(found, **changes)  # type: ignore[arg-type]


def test_panes_without_auxiliary_tables_are_found_as_they_were_known(ledger: Ledger) -> None:
    collected(ledger, 3)

    def unseen(as_of: object, hashed: str = SCORE.hash) -> dict[str, list[int]]:
        with ledger.database.reading() as connection:
            found = panes_without_auxiliary(
                connection,
                MONITOR,
                CONFIGURATION,
                mature=1,
                since=FIRST,
                through=day(2).start,
                as_of=as_of,  # type: ignore[arg-type]
                score_hash=hashed,
            )
        return {one: [pane.number for pane in panes] for one, panes in found.items()}

    # The first day is mature by then, the others are young; final looks do not count.
    assert unseen(day(2).end) == {key(0): [1], key(1): [0], key(2): [0]}
    assert unseen(LONG_AFTER) == {key(0): [1], key(1): [1], key(2): [1]}
    assert unseen(FIRST) == {}
    with ledger.database.writing() as connection:
        store_auxiliary_series(connection, key(0), 1, [look("1"), look("2", table=None)])
        reason = look("1", hash=None, table=None, reason="no column")
        store_auxiliary_series(connection, key(1), 1, [reason])
    assert unseen(LONG_AFTER) == {key(2): [1]}
    # By another score; what is said stays said.
    assert unseen(LONG_AFTER, "b" * 64) == {key(0): [1], key(2): [1]}
    with ledger.database.reading() as connection:
        seen = stored_auxiliary_series(connection, [(key(0), 1), (key(1), 1), (key(2), 1)])
    assert seen[key(0), 1, "1", ""].table.labeled.tolist() == TABLE.labeled.tolist()  # type: ignore[union-attr]
    assert seen[key(0), 1, "2", ""].table is None
    assert seen[key(1), 1, "1", ""].reason == "no column"
    assert len(seen) == 3


def test_what_is_collected_again_is_not_seen(ledger: Ledger) -> None:
    collected(ledger, 2)
    with ledger.database.writing() as connection:
        for number in (0, 1):
            store_auxiliary_series(connection, key(number), 1, [look("1")])
    ledger.reopen([key(0)], which="all", actor="ana")
    collected(ledger, 2)
    with ledger.database.reading() as connection:
        seen = stored_auxiliary_series(connection, [(key(0), 1), (key(1), 1)])
    assert [place[0] for place in seen] == [key(1)]
