"""Cases of an audit, chosen where the rows are: of each score bin those of smallest key."""

# ruff: noqa: S608 (identifiers reach SQL only quoted by the dialect, text only as hexadecimal)

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pumonitor.errors import InputError
from pumonitor.sources.windows.answers import texts_of
from pumonitor.sources.windows.asking import distinct
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.label_parts import of_each_part

if TYPE_CHECKING:
    from pumonitor.audit.requests import BinRequest, BinRows, CaseRequest, DrawnRow

_SEED: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_BEYOND_ALL: Final = "g"
"""Sorts after every hexadecimal digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawQuery(CountQuery):
    """Statements about the score bins of one window, as known at one moment.

    Attributes
    ----------
    edges : tuple of float
        Inner edges of the bins; a bin holds edge <= score < next edge.
    """

    edges: tuple[float, ...] = ()

    def bins(self) -> Statement:
        """Numbers of rows by model version, bin, and whether they are confirmed positives."""
        return self.stated(
            "SELECT model_version, bin, confirmed, count(*) AS n FROM "
            f"({self._placed('pumonitor_first')}) AS placed GROUP BY model_version, bin, confirmed",
            "pumonitor_first",
            "pumonitor_states",
        )

    def smallest(self, request: CaseRequest) -> Statement:
        """Rows whose key is below that of their bin, with their key and what is shown of them."""
        features = tuple(f"feature_{place}" for place in range(len(self.predictions.features)))
        text = self.dialect.plain(f"CAST(id AS {self.dialect.text})")
        keyed = self.dialect.hashed(f"'{request.seed}:' || {text}")
        # Few are left before anything else is asked of them.
        widest = _cutoff(max(*request.shares, request.confirmed_share))
        rows = (
            f"(SELECT * FROM (SELECT hashed.*, {keyed} AS keyed FROM pumonitor_first AS hashed "
            f"WHERE problem = 0) AS usable WHERE keyed < '{widest}')"
        )
        until = " ".join(
            f"WHEN bin = {place} THEN '{_cutoff(share)}'"
            for place, share in enumerate(request.shares)
        )
        beside = (*self.segments, *features)
        chosen = ", ".join([f"{text} AS id", "model_version", "bin", "confirmed", *beside])
        placed = self._placed(rows, ("keyed", *beside))
        return self.stated(
            f"SELECT {chosen}, keyed FROM ({placed}) AS placed WHERE keyed < "
            f"CASE WHEN confirmed = 1 THEN '{_cutoff(request.confirmed_share)}' {until} END",
            "pumonitor_first",
            "pumonitor_states",
        )

    def _placed(self, rows: str, columns: Sequence[str] = ()) -> str:
        """Rows with their bin, from 0 for the lowest scores."""
        double = self.dialect.double_constant
        cases = " ".join(
            f"WHEN score < {double(edge)} THEN {place}" for place, edge in enumerate(self.edges)
        )
        place = f"CASE {cases} ELSE {len(self.edges)} END" if cases else "0"
        chosen = ", ".join(["predicted.id AS id", "model_version", *columns])
        return (
            f"SELECT {chosen}, {place} AS bin, "
            f"CASE WHEN {self.was_positive(0)} THEN 1 ELSE 0 END AS confirmed "
            f"FROM {rows} AS predicted "
            "LEFT JOIN pumonitor_states AS stated ON predicted.id = stated.id WHERE problem = 0"
        )


def count_bins(engine: Engine, query: DrawQuery, request: BinRequest) -> BinRows:
    """Rows and confirmed positives of one model version by bin.

    Parameters
    ----------
    engine : Engine
        Within a snapshot.
    query : DrawQuery
    request : BinRequest
    """
    # Statistics are loaded with it, which counting does without.
    from pumonitor.audit.requests import BinRows

    counted = np.zeros((2, len(query.edges) + 1), dtype=np.int64)
    for part in of_each_part(query):
        found = _prepared(engine, part)
        for version, place, confirmed, number in engine.rows(
            found.bins(), about=query.predictions.relation.name
        ):
            if version == request.model_version:
                counted[0, int(place)] += int(number)
                counted[1, int(place)] += int(number) * int(confirmed)
    return BinRows(rows=tuple(counted[0].tolist()), labeled=tuple(counted[1].tolist()))


def draw_rows(engine: Engine, query: DrawQuery, request: CaseRequest) -> tuple[DrawnRow, ...]:
    """Rows of one model version with the smallest keys, in the order of these.

    Raises
    ------
    InputError
        If the seed has characters that are not allowed, or an id begins or ends with blanks.
    """
    if not _SEED.fullmatch(request.seed):
        msg = "a seed must have 1 to 200 letters, digits, dots, underscores or hyphens"
        raise InputError(msg)
    drawn = [row for part in of_each_part(query) for row in _drawn(engine, part, request)]
    return tuple(sorted(drawn, key=lambda one: (one.key, one.id)))


def _drawn(engine: Engine, query: DrawQuery, request: CaseRequest) -> list[DrawnRow]:
    from pumonitor.audit.requests import DrawnRow

    found = _prepared(engine, query)
    answer = engine.columns(found.smallest(request), about=query.predictions.relation.name)
    shown = [_texts(answer[f"feature_{place}"]) for place in range(len(request.columns))]
    names = [column.name for column in query.predictions.segments]
    values = [texts_of(answer[name]) for name in query.segments]
    drawn = []
    for number, version in enumerate(_texts(answer["model_version"])):
        if version == request.model_version:
            drawn.append(
                DrawnRow(
                    id=_plain_id(answer["id"][number], query),
                    key=str(answer["keyed"][number]),
                    bin=int(answer["bin"][number]),
                    is_confirmed=bool(answer["confirmed"][number]),
                    shown=tuple(column[number] or "" for column in shown),
                    segments=tuple(
                        f"{name}={column[number]}"
                        for name, column in zip(names, values, strict=True)
                    ),
                )
            )
    return drawn


def _prepared(engine: Engine, query: DrawQuery) -> DrawQuery:
    """The query about the first row of each id, with states that are computed once."""
    found = distinct(engine, query)
    if engine.keep("pumonitor_states", found.states(), about=query.labels.relation.name):
        found = replace(found, kept=found.kept | {"pumonitor_states"})
    return found


def _cutoff(share: float) -> str:
    """The key below which a share of all keys lies."""
    return _BEYOND_ALL if share >= 1 else f"{int(max(share, 0.0) * 2**64):016x}"


def _plain_id(given: Any, query: DrawQuery) -> str:
    found = str(given)
    if found != found.strip():
        msg = (
            f"id column '{query.predictions.id.name}' of {query.predictions.relation.name} has "
            f"{found!r}, which begins or ends with blanks: they are lost where cases are reviewed"
        )
        raise InputError(msg)
    return found


def _texts(values: Any) -> list[str | None]:
    # Of a masked array it gives None where a value is missing.
    listed = values.tolist() if hasattr(values, "tolist") else values
    return [None if one is None else str(one) for one in listed]
