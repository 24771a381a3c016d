"""An engine against DuckDB, case by case."""

# ruff: noqa: S608 (constants alone)

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeVar

from pumonitor.conformance.cases import all_cases
from pumonitor.conformance.cases.case import Case
from pumonitor.conformance.outcome import Outcome, outcome_of
from pumonitor.errors import PumonitorError
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.monitored_tables import SqlQuery
from pumonitor.sources.engines.registry import open_engine
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import Statement

NAME: Final = "counts and times beyond 32 bits"
_LAST: Final = 253_402_300_799_999_999
"""Microseconds of the last moment of the year 9999."""
_Row = TypeVar("_Row")

_TRIES: Final = 60
_INSTEAD: Final[tuple[tuple[Kind, Kind], ...]] = (("moment", "naive"), ("naive", "text"))
"""Times as which others are written where an engine's SQL has none of their kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What became of one case.

    Attributes
    ----------
    name : str
    status : {"agrees", "differs", "not run"}
    digest, expected : str
        Of what the engine counted, and DuckDB.
    detail : str
        What differs first, or why it was not run.
    example : str
        The fewest rows about which they differ.
    seconds : float
    """

    name: str
    status: Literal["agrees", "differs", "not run"]
    digest: str = ""
    expected: str = ""
    detail: str = ""
    example: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All cases of one engine.

    Attributes
    ----------
    engine, version : str
    cases : tuple of CaseResult
    """

    engine: str
    version: str
    cases: tuple[CaseResult, ...]

    @property
    def is_verified(self) -> bool:
        """Whether it ran and agreed on all it could be asked."""
        statuses = {one.status for one in self.cases}
        return "agrees" in statuses and "differs" not in statuses


def verify(
    url: str,
    *,
    statement_timeout: float = 120.0,
    only: str = "",
    told: Callable[[CaseResult], None] | None = None,
) -> Verification:
    """Count generated rows in an engine and in DuckDB, and compare every number.

    The rows are written into queries, so no table is read and none is made; labels that travel from
    DuckDB go into a temporary table where an engine has no other way.

    Parameters
    ----------
    url : str
        Of a database whose engine is registered: one of this package, or an entry point.
    statement_timeout : float
        Seconds that one statement may take.
    only : str
        Cases whose name holds this.
    told : callable, optional
        Gets each result when it is there.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If the URL cannot be used.
    SourceError
        If the database cannot be reached.
    ExtraMissingError
        If the engine's package is not installed.

    Examples
    --------
    >>> found = verify("sqlite://", only="largest doubles")
    >>> found.engine, found.is_verified, [one.status for one in found.cases]
    ('sqlite', True, ['agrees'])
    """
    with closing(open_engine(url, timeout=statement_timeout)) as engine:
        dialect, version = engine.dialect, engine.version()
        results = [_numbers(differing_number(engine))] if only in NAME else []
    for one in results:
        if told is not None:
            told(one)
    for result in _results(url, dialect, timeout=statement_timeout, only=only):
        results.append(result)
        if told is not None:
            told(result)
    return Verification(engine=dialect.name, version=version, cases=tuple(results))


def _numbers(differs: str) -> CaseResult:
    return CaseResult(name=NAME, status="differs" if differs else "agrees", detail=differs)


def _results(url: str, dialect: Dialect, *, timeout: float, only: str) -> Iterator[CaseResult]:
    for case in all_cases():
        if only in case.name:
            started = time.perf_counter()
            result = _result(url, dialect, _in_terms_of(dialect, case), timeout=timeout)
            yield replace(result, seconds=time.perf_counter() - started)


def _in_terms_of(dialect: Dialect, case: Case) -> Case:
    """With times that the engine's SQL can write."""
    for kind, other in _INSTEAD:
        if kind not in dialect.types:
            case = case.with_times_as(other, in_place_of=kind)
    return case


def _result(url: str, dialect: Dialect, case: Case, *, timeout: float) -> CaseResult:
    for role in sorted(case.in_engine & set(case.tables)):
        if reason := case.tables[role].not_held(dialect):
            return CaseResult(name=case.name, status="not run", detail=reason)

    def both(asked: Case) -> tuple[Outcome, Outcome]:
        return (
            _in_engine(url, dialect, asked, timeout=timeout),
            outcome_of(
                asked,
                {role: table.arrow() for role, table in asked.tables.items()},
                timeout=timeout,
            ),
        )

    found, expected = both(case)
    if found.agrees_with(expected):
        return CaseResult(
            name=case.name, status="agrees", digest=found.digest, expected=expected.digest
        )

    def differs(asked: Case) -> bool:
        here, there = both(asked)
        # A query that fails altogether is no example of one that counts otherwise.
        failed = ("failed" in one.facts for one in (here, found))
        return not here.agrees_with(there) and len(set(failed)) == 1

    fewest = smallest(case, differs, tries=_TRIES)
    here, there = both(fewest)
    return CaseResult(
        name=case.name,
        status="differs",
        digest=found.digest,
        expected=expected.digest,
        detail=here.difference(there),
        example="\n".join(f"{role}:\n{table.shown()}" for role, table in fewest.tables.items()),
    )


def _in_engine(url: str, dialect: Dialect, case: Case, *, timeout: float) -> Outcome:
    places: dict[str, object] = {
        role: SqlQuery(url=url, query=table.query(dialect))
        if role in case.in_engine
        else table.arrow()
        for role, table in case.tables.items()
    }
    return outcome_of(case, places, timeout=timeout)


def differing_number(engine: Engine) -> str:
    """The first number that comes out wrong; "" if all are right."""
    for sql, expected in _probes(engine.dialect):
        try:
            with engine.snapshot():
                found = engine.columns(Statement(sql=sql), about="a number")["n"][0]
        except PumonitorError as error:
            return f"{sql}: {error}"
        if not _is_whole(found) or int(found) != expected or _is_short(found):
            return f"{sql}: {found!r} here, which must be {expected} in 64 bits"
    return ""


def _probes(dialect: Dialect) -> list[tuple[str, int]]:
    whole, counted = dialect.whole, dialect.counted
    two = "(SELECT 1 AS a UNION ALL SELECT 2 AS a) AS two_rows"
    large, last = f"CAST(3000000000 AS {whole})", f"CAST({_LAST} AS {whole})"
    return [
        (f"SELECT {counted} + 2147483646 AS n FROM {two}", 2**31),
        (f"SELECT sum({large}) AS n FROM {two}", 6_000_000_000),
        (f"SELECT max(4 * CAST({_LAST} AS {whole}) + a + 1) AS n FROM {two}", 4 * _LAST + 3),
        (f"SELECT max({dialect.remainder(last, 1_000_000)}) AS n FROM {two}", 999_999),
    ]


def _is_whole(found: Any) -> bool:
    # Sums come as doubles from some, exact up to 2**53: the larger numbers here would not be.
    return found is not None and int(found) == found


def _is_short(found: Any) -> bool:
    """Whether it came in fewer bytes than the largest count takes."""
    return getattr(found, "itemsize", 8) < 8


def smallest(case: Case, differs: Callable[[Case], bool], *, tries: int) -> Case:
    """Leave out windows and rows for as long as the difference stays.

    Parameters
    ----------
    case : Case
        On which they differ.
    differs : callable
        Asks both engines.
    tries : int
        How often at most they are asked.
    """
    left = [tries]

    def still(shorter: Case) -> bool:
        left[0] -= 1
        return left[0] >= 0 and differs(shorter)

    for request in case.requests:
        alone = replace(case, requests=(request,))
        if len(case.requests) > 1 and still(alone):
            case = alone
            break
    made = _fewest(
        case.predictions.rows,
        lambda rows: still(replace(case, predictions=case.predictions.with_rows(rows))),
    )
    case = replace(case, predictions=case.predictions.with_rows(made))
    known = _fewest(
        case.positives.rows,
        lambda rows: still(replace(case, positives=case.positives.with_rows(rows))),
    )
    case = replace(case, positives=case.positives.with_rows(known))
    if (reviews := case.reviews) is None:
        return case
    decided = _fewest(
        reviews.rows, lambda rows: still(replace(case, reviews=reviews.with_rows(rows)))
    )
    return replace(case, reviews=reviews.with_rows(decided))


def _fewest(rows: Sequence[_Row], differs: Callable[[Sequence[_Row]], bool]) -> Sequence[_Row]:
    """Leave out ever shorter stretches of rows, until no single one can be left out."""
    length = (len(rows) + 1) // 2
    while length >= 1:
        place = 0
        while place < len(rows):
            shorter = [*rows[:place], *rows[place + length :]]
            if differs(shorter):
                rows = shorter
            else:
                place += length
        length = 0 if length == 1 else (length + 1) // 2
    return rows
