"""Tokens are known by their hashes, hold as long as they should, and can be revoked."""

from __future__ import annotations

import hmac
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.schema import audit, page_sessions, tokens
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.tokens import SESSION_LENGTH


@pytest.fixture
def ledger(address):
    with Ledger.open(address) as found:
        yield found


def later(ledger, table, column, by):
    """Move a stored time, as the database's clock does not wait."""
    with ledger.database.writing() as connection:
        moved = connection.scalar(select(table.c[column]).limit(1)) + by
        connection.execute(update(table).values({column: moved}))


def test_a_token_is_known_by_its_text_alone(ledger):
    made, text = ledger.tokens.create("grafana", "read", by="alice", monitors=["card-fraud"])
    assert text.startswith(f"pum_{made.id}_")
    found = ledger.tokens.holder(text)
    assert (found.name, found.right, found.monitors) == ("grafana", "read", ("card-fraud",))
    for wrong in ("", text[:-1], text + "x", text.upper(), made.id, text[:-1] + "~", "pum_é_x"):
        assert ledger.tokens.holder(wrong) is None
    other, _ = ledger.tokens.create("other", "read", by="alice")
    assert ledger.tokens.holder(text.replace(made.id, other.id)) is None


def test_nothing_that_is_stored_shows_it(ledger):
    _, text = ledger.tokens.create("grafana", "read", by="alice")
    session = ledger.tokens.begin_session(ledger.tokens.holder(text))
    with ledger.database.reading() as connection:
        stored = repr(
            [connection.execute(select(one)).all() for one in (tokens, page_sessions, audit)]
        )
    assert "create token" in stored
    assert text.rsplit("_", 1)[1][:20] not in stored
    assert session[:20] not in stored


def test_hashes_are_compared_in_constant_time(ledger, monkeypatch):
    _, text = ledger.tokens.create("grafana", "read", by="alice")
    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda *both: bool(compared.append(both)))
    assert ledger.tokens.holder(text) is None
    assert [len(one) for one in compared[0]] == [64, 64]


def test_it_ends_when_it_expires_or_is_revoked(ledger):
    _, text = ledger.tokens.create("grafana", "read", by="alice", lasts=timedelta(hours=1))
    assert ledger.tokens.holder(text)
    later(ledger, tokens, "expires_at", timedelta(hours=-2))
    assert ledger.tokens.holder(text) is None
    _, text = ledger.tokens.create("other", "read", by="alice")
    assert [one.name for one in ledger.tokens.revoke("other", by="bob")] == ["other"]
    assert ledger.tokens.holder(text) is None
    assert ledger.tokens.revoke("other", by="bob") == ()
    assert [entry.action for entry in ledger.audit()] == ["revoke token", *["create token"] * 2]


def test_its_use_is_noted_once_a_minute_and_changes_nothing_that_is_read(ledger):
    _, text = ledger.tokens.create("grafana", "read", by="alice")
    before = ledger.writes()
    ledger.tokens.holder(text)
    (first,) = ledger.tokens.all()
    ledger.tokens.holder(text)
    (second,) = ledger.tokens.all()
    assert first.last_used_at is not None
    assert second.last_used_at == first.last_used_at
    assert ledger.writes() == before
    later(ledger, tokens, "last_used_at", timedelta(minutes=-2))
    ledger.tokens.holder(text)
    assert ledger.tokens.all()[0].last_used_at > first.last_used_at


def test_a_session_ends_by_itself_by_hand_and_with_its_token(ledger):
    made, text = ledger.tokens.create("alice", "acknowledge", by="alice")
    one, other, third = (ledger.tokens.begin_session(made) for _ in range(3))
    assert ledger.tokens.of_session(one).name == "alice"
    assert ledger.tokens.of_session(text) is None
    ledger.tokens.end_session(one)
    assert ledger.tokens.of_session(one) is None
    later(ledger, page_sessions, "expires_at", -SESSION_LENGTH)
    assert ledger.tokens.of_session(other) is None
    third = ledger.tokens.begin_session(made)
    ledger.tokens.revoke(made.id, by="bob")
    assert ledger.tokens.of_session(third) is None


def test_writes_count_what_has_changed_something(ledger):
    before = ledger.writes()
    ledger.note("somebody", "test", {})
    with ledger.database.writing() as connection:
        connection.execute(select(tokens))
        connection.execute(update(tokens).values(name="x"))
    assert ledger.writes() == before + 1
    with pytest.raises(IntegrityError), ledger.database.writing() as connection:
        connection.execute(tokens.insert().values(id=None))
    assert ledger.writes() == before + 1


def test_no_name_is_taken_for_an_id_and_no_end_is_beyond_all_dates(ledger):
    made, _ = ledger.tokens.create("grafana", "read", by="alice")
    with pytest.raises(InputError, match="could be the id"):
        ledger.tokens.create(made.id, "read", by="alice")
    with pytest.raises(InputError, match="would expire too late"):
        ledger.tokens.create("other", "read", by="alice", lasts=timedelta(days=9e6))
    assert [one.name for one in ledger.tokens.all()] == ["grafana"]
