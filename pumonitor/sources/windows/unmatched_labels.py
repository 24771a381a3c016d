"""Labels whose id is in no prediction: examples, and what would make their ids match."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Final

from pumonitor.ports import UnmatchedLabels
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.counts_rows import prediction_ids
from pumonitor.sources.windows.label_parts import rows_of_all
from pumonitor.sources.windows.statement_values import Values

_LEAST: Final = 3
_LEAST_SHARE: Final = 0.01
"""A share of labels without prediction that late and deleted predictions leave."""

_LEAST_UNEXPLAINED: Final = 0.1
"""A share that is reported though no other spelling matches."""

_EXAMPLES: Final = 3
_TRIED: Final = 25
"""Ids that are tried in other spellings: each takes a dozen values of one statement."""
_LEAST_REPAIRED: Final = 3
_PREFIX: Final = 2
"""Characters that ids of predictions begin with alike, from which on this is a prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedQuery(CountQuery):
    """Statements about the labels that became known in a stretch of time (`between`)."""

    def known(self) -> Statement:
        """How many these are."""
        return self.stated(
            "SELECT coalesce(sum(n), 0) AS n FROM pumonitor_unmatched", "pumonitor_unmatched"
        )

    def examples(self) -> Statement:  # type: ignore[override]
        """Ids of some that are in no prediction."""
        values = Values(self.dialect)
        return self.stated(
            f"SELECT id FROM {self._without_prediction(None, values)} ORDER BY id LIMIT {_TRIED}",
            "pumonitor_unmatched",
            values=values,
        )

    def some_ids(self) -> Statement:
        """Ids of some predictions."""
        values = Values(self.dialect)
        ids = prediction_ids(self.predictions, key=self.key, between=None, values=values)
        return Statement(
            sql=f"SELECT id FROM ({ids}) AS made WHERE id IS NOT NULL LIMIT {_TRIED}",
            values=values.bound,
        )

    def hashes_among(self, hashes: Sequence[str]) -> Statement:
        """Those of some hashes of ids that predictions have: an id itself is in no statement."""
        values = Values(self.dialect)
        made = prediction_ids(self.predictions, key=self.key, between=None, values=values)
        text = self.dialect.plain(f"CAST(id AS {self.dialect.text})")
        listed = ", ".join(f"'{digits}'" for digits in hashes)
        return Statement(
            sql=f"SELECT DISTINCT hashed FROM (SELECT {self.dialect.hashed(text)} AS hashed "
            f"FROM ({made}) AS made) AS made_ids WHERE hashed IN ({listed})",
            values=values.bound,
        )


def may_be_reported(orphans: int, label_rows: int) -> bool:
    """Whether a window has so many labels without prediction that they are looked at."""
    return orphans >= _LEAST and orphans > _LEAST_SHARE * (orphans + label_rows)


def is_reported(found: UnmatchedLabels, *, is_explained: bool) -> bool:
    """Whether labels without prediction are more than late or older predictions explain.

    Parameters
    ----------
    found : UnmatchedLabels
    is_explained : bool
        Whether they may be about predictions from before the first one.
    """
    if found.unmatched < _LEAST or found.unmatched <= _LEAST_SHARE * found.known:
        return False
    is_much = found.unmatched > _LEAST_UNEXPLAINED * found.known
    return bool(found.repair) or (is_much and not is_explained)


def find_unmatched_labels(engine: Engine, query: UnmatchedQuery, *, number: int) -> UnmatchedLabels:
    """Examples of labels without prediction, and the likely repair.

    Parameters
    ----------
    engine : Engine
        Within a snapshot, with the labels and the ids of all predictions ready.
    query : UnmatchedQuery
    number : int
        Of labels without prediction.
    """
    about = f"{query.predictions.relation.name} or {query.labels.relation.name}"
    known = sum(
        int(row[0]) for row in rows_of_all(engine, query, UnmatchedQuery.known, about=about)
    )
    told = rows_of_all(engine, query, UnmatchedQuery.examples, about=about)
    unmatched = [str(row[0]) for row in told][:_TRIED]
    repair, repaired = "", 0
    if query.key == "text" and unmatched:
        about = query.predictions.relation.name
        of_predictions = [str(row[0]) for row in engine.rows(query.some_ids(), about=about)]

        def ids_among(ids: Sequence[str]) -> set[str]:
            by_hash = {sha256(text.encode()).hexdigest(): text for text in ids}
            rows = engine.rows(query.hashes_among(list(by_hash)), about=about)
            return {by_hash[str(row[0])] for row in rows}

        repair, repaired = likely_repair(unmatched, of_predictions, ids_among)
    return UnmatchedLabels(
        known=known,
        unmatched=number,
        examples=tuple(unmatched[:_EXAMPLES]),
        repair=repair,
        repaired=repaired,
        tried=len(unmatched),
    )


def likely_repair(
    unmatched: Sequence[str],
    of_predictions: Sequence[str],
    ids_among: Callable[[Sequence[str]], set[str]],
) -> tuple[str, int]:
    """What makes most of some ids match, and how many of them; nothing and 0 if too few do.

    Parameters
    ----------
    unmatched : sequence of str
        Ids of labels that are in no prediction.
    of_predictions : sequence of str
        Ids of some predictions, for what they have that those lack.
    ids_among : callable
        Those of some ids that predictions have.
    """
    spellings = [dict(_spellings(text, of_predictions)) for text in unmatched]
    tried = sorted({text for own in spellings for text in own.values()})
    if not tried:
        return "", 0
    known = ids_among(tried)
    hits: dict[str, int] = {}
    for own in spellings:
        for repair, text in own.items():
            hits[repair] = hits.get(repair, 0) + (text in known)
    # Of equally good ones the first, which is the simplest.
    repair = max(hits, key=lambda name: hits[name])
    least = min(_LEAST_REPAIRED, len(unmatched))
    return (repair, hits[repair]) if hits[repair] >= least else ("", 0)


def _spellings(text: str, of_predictions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Other spellings of an id of the labels, by what would have to be done to get them."""
    inner = text.strip()
    widths = {len(other) for other in of_predictions}
    # As least and largest differ, so do all between them.
    least, largest = min(of_predictions, default=""), max(of_predictions, default="")
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(least, largest, strict=False))
    prefix = "".join(first for first, _ in alike).rstrip("0123456789") if least != largest else ""
    candidates = {
        "strip line ends and blanks from the ids of the labels": inner,
        "strip line ends and blanks from the ids of the predictions": next(
            (
                text + other[len(other.rstrip()) :]
                for other in of_predictions
                if other != other.rstrip()
            ),
            text,
        ),
        "write the ids of both tables in lower case": inner.lower(),
        "write the ids of both tables in upper case": inner.upper(),
        "drop leading zeros from the ids of the labels": inner.lstrip("0"),
        "keep leading zeros in the ids of the labels": (
            inner.zfill(widths.pop()) if len(widths) == 1 else inner
        ),
        "drop the .0 from the ids of the labels, which were read as decimal numbers": (
            inner.removesuffix(".0")
        ),
        "drop the .0 from the ids of the predictions, which were read as decimal numbers": (
            f"{inner}.0"
        ),
        "strip quotation marks from the ids of the labels": inner.strip("\"'"),
        "drop the hyphens from the ids of the labels": inner.replace("-", ""),
        "drop the prefix from the ids of the labels": inner[
            1 + max(inner.rfind(mark) for mark in "-_:/ ") :
        ],
    }
    if len(prefix) >= _PREFIX and not inner.startswith(prefix):
        candidates[f"put {prefix!r} before the ids of the labels, as predictions have it"] = (
            prefix + inner
        )
    for repair, spelling in candidates.items():
        if spelling and spelling != text:
            yield repair, spelling
