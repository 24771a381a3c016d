"""Tokens of programs and people, and sessions of browsers that have signed in with one."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from pydantic import Field
from sqlalchemy import Row, delete, insert, or_, select, update

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.database.schema import page_sessions, tokens
from pumonitor.views.model import Moment, View

TokenRight = Literal["read", "acknowledge", "admin"]
"""What a token allows, each with what comes before.

- "read": see monitors.
- "acknowledge": acknowledge and silence their alerts, write notes.
- "admin": change what concerns all monitors.
"""

SESSION_LENGTH: Final = timedelta(hours=12)
"""How long a browser stays signed in."""

_PREFIX: Final = "pum"
_TOKEN: Final = re.compile(rf"{_PREFIX}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")
_ID: Final = re.compile(r"[0-9a-f]{12}")
_USED_AGAIN: Final = timedelta(minutes=1)


class Token(View):
    """A token, without its secret."""

    id: str = Field(description="The part of the token by which it is found; no secret.")
    name: str
    right: TokenRight
    monitors: tuple[str, ...] | None = Field(description="Those that it shows; null for all.")
    created_at: Moment
    created_by: str
    expires_at: Moment | None = None
    last_used_at: Moment | None = Field(default=None, description="Known to the minute.")
    revoked_at: Moment | None = None

    def holds(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class StoredTokens:
    """Tokens in the state database. Every method is one transaction.

    Parameters
    ----------
    database : Database

    Examples
    --------
    >>> import tempfile
    >>> from pumonitor.monitor.ledger.ledger import Ledger
    >>> with Ledger.open(f"sqlite:///{tempfile.mkdtemp()}/state.db") as ledger:
    ...     made, text = ledger.tokens.create("grafana", "read", by="alice")
    ...     ledger.tokens.holder(text).name, ledger.tokens.holder(text[:-1] + "-")
    ('grafana', None)
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        name: str,
        right: TokenRight,
        *,
        by: str,
        monitors: Sequence[str] | None = None,
        lasts: timedelta | None = None,
    ) -> tuple[Token, str]:
        """Make a token; returns it and its text, which is not kept.

        Parameters
        ----------
        name : str
        right : {"read", "acknowledge", "admin"}
        by : str
            Who makes it.
        monitors : sequence of str, optional
            By default all.
        lasts : timedelta, optional
            Without it, it does not expire.

        Raises
        ------
        InputError
            If the name could be an id, or the token would expire too late to be written down.
        """
        if _ID.fullmatch(name):
            msg = f"{name} could be the id of a token: give this one another name"
            raise InputError(msg)
        public, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        with self._database.writing() as connection:
            at = self._database.now(connection)
            row = {
                "id": public,
                "name": name,
                "token_right": right,
                "monitors": None if monitors is None else list(monitors),
                "created_at": at,
                "created_by": by,
                "expires_at": _end(at, lasts),
            }
            connection.execute(insert(tokens).values(**row, hash=_hash(secret)))
            detail = {key: row[key] for key in ("id", "name", "monitors", "expires_at")}
            record(
                connection, at=at, actor=by, action="create token", detail=detail | {"right": right}
            )
            made = _token(connection.execute(select(tokens).where(tokens.c.id == public)).one())
        return made, f"{_PREFIX}_{public}_{secret}"

    def all(self) -> tuple[Token, ...]:
        """All tokens, in the order in which they were made."""
        query = select(tokens).order_by(tokens.c.created_at, tokens.c.id)
        with self._database.reading() as connection:
            return tuple(_token(row) for row in connection.execute(query))

    def revoke(self, named: str, *, by: str) -> tuple[Token, ...]:
        """Revoke tokens of that name or id, and end their sessions; returns them."""
        own = tokens.c
        chosen = (own.revoked_at.is_(None), or_(own.id == named, own.name == named))
        with self._database.writing() as connection:
            at = self._database.now(connection)
            found = [_token(row) for row in connection.execute(select(tokens).where(*chosen))]
            connection.execute(update(tokens).where(*chosen).values(revoked_at=at))
            keys = [one.id for one in found]
            connection.execute(delete(page_sessions).where(page_sessions.c.token.in_(keys)))
            for one in found:
                detail = {"id": one.id, "name": one.name}
                record(connection, at=at, actor=by, action="revoke token", detail=detail)
        return tuple(found)

    def holder(self, text: str) -> Token | None:
        """The token with this text; None if there is none, or it does not hold any more."""
        parts = _TOKEN.fullmatch(text)
        if parts is None:
            return None
        public, secret = parts.groups()
        with self._database.reading() as connection:
            at = self._database.now(connection)
            row = connection.execute(select(tokens).where(tokens.c.id == public)).first()
        # How long a comparison takes says nothing of the hash.
        if row is None or not hmac.compare_digest(row.hash, _hash(secret)):
            return None
        return self._used(_token(row), at)

    def begin_session(self, token: Token) -> str:
        """Sign a browser in with a token; returns the text of its cookie, which is not kept."""
        secret = secrets.token_urlsafe(32)
        with self._database.writing(counted=False) as connection:
            at = self._database.now(connection)
            connection.execute(delete(page_sessions).where(page_sessions.c.expires_at <= at))
            connection.execute(
                insert(page_sessions).values(
                    hash=_hash(secret),
                    token=token.id,
                    created_at=at,
                    expires_at=at + SESSION_LENGTH,
                )
            )
        return secret

    def of_session(self, secret: str) -> Token | None:
        """The token with which a browser has signed in; None if it has not, or no longer."""
        query = (
            select(tokens)
            .join(page_sessions, page_sessions.c.token == tokens.c.id)
            .where(page_sessions.c.hash == _hash(secret))
        )
        with self._database.reading() as connection:
            at = self._database.now(connection)
            row = connection.execute(query.where(page_sessions.c.expires_at > at)).first()
        return None if row is None else self._used(_token(row), at)

    def end_session(self, secret: str) -> None:
        """Sign a browser out."""
        with self._database.writing(counted=False) as connection:
            connection.execute(delete(page_sessions).where(page_sessions.c.hash == _hash(secret)))

    def _used(self, token: Token, at: datetime) -> Token | None:
        """Note the use, at most once a minute; None for a token that does not hold."""
        if not token.holds(at):
            return None
        if token.last_used_at is None or token.last_used_at <= at - _USED_AGAIN:
            try:
                with self._database.writing(counted=False, waits=False) as connection:
                    connection.execute(
                        update(tokens).where(tokens.c.id == token.id).values(last_used_at=at)
                    )
            except StateError:
                # What is asked can be read although nothing can be written now, and does not wait
                # for whoever writes; a later use is noted.
                pass
        return token


def _end(at: datetime, lasts: timedelta | None) -> datetime | None:
    try:
        return None if lasts is None else at + lasts
    except OverflowError:
        msg = "the token would expire too late: without an end it holds until it is revoked"
        raise InputError(msg) from None


def _hash(secret: str) -> str:
    """What is kept of a secret.

    A secret is 256 random bits, so nobody finds it by trying, however fast its hash is. Slow hashes
    with salt are for passwords, which people choose.
    """
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _token(row: Row[Any]) -> Token:
    return Token.from_record(row, right=row.token_right)
