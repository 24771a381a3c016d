"""An engine against DuckDB, case by case."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Final, Literal

from pumonitor.conformance.cases import all_cases
from pumonitor.conformance.cases.case import Case
from pumonitor.conformance.outcome import Outcome, outcome_of
from pumonitor.conformance.probes import NAME, differing_number
from pumonitor.conformance.smallest import smallest
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.monitored_tables import SqlQuery
from pumonitor.sources.engines.registry import open_engine

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
