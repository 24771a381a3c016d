"""What an engine makes of a case: every number, or how the rows were refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from pumonitor.conformance.cases.case import Case
from pumonitor.errors import InputError, PumonitorError
from pumonitor.ports import CountRequest, PredictionSource, SampleRequest, WindowCounts
from pumonitor.sources.opening import open_source

_NOW: Final = datetime(2026, 12, 1, tzinfo=UTC)
_REFUSED: Final = re.compile(r"^(\w+ column '\w+') of .*? has (\d+ [^:;]*)")
"""Where and how often; what follows shows values, each engine in its own way."""

_ENTITY_ROWS: Final = 1000
_OWN_WORDS: Final = " cannot be read: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that was counted.

    Attributes
    ----------
    facts : mapping of str to str
        What was counted, by what it is a count of.
    """

    facts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """The same for two engines that agree on everything."""
        return sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]

    def agrees_with(self, expected: Outcome) -> bool:
        """Whether nothing differs.

        Where rows cannot be used, some databases refuse the whole query in words of their own, and
        that is as good as naming the rows.
        """
        said = self.facts.get("refused", "")
        if _OWN_WORDS in said and not _REFUSED.match(said):
            return set(expected.facts) == {"refused"}
        return self.facts == expected.facts

    def difference(self, expected: Outcome) -> str:
        """The first thing that differs; "" if nothing does."""
        # Of a statement that failed nothing else is worth telling.
        first = [one for one in ("failed",) if one in self.facts or one in expected.facts]
        for fact in [*first, *expected.facts, *self.facts]:
            here, there = self.facts.get(fact), expected.facts.get(fact)
            if here != there:
                return f"{fact}: {here or 'nothing'} here, {there or 'nothing'} in DuckDB"
        return ""


def outcome_of(case: Case, places: Mapping[str, object], *, timeout: float) -> Outcome:
    """Count a case wherever its tables are.

    Parameters
    ----------
    case : Case
    places : mapping of str to object
        Predictions, positives, and reviews if there are any, as `open_source` takes them.
    timeout : float
        Seconds for one statement.
    """
    facts: dict[str, str] = {}
    try:
        with closing(
            open_source(
                places["predictions"],
                case.made,
                places["positives"],
                case.known,
                score_scale=case.scale,
                statement_timeout=timeout,
                clock=lambda: _NOW,
                reviews=[] if case.reviewed is None else [(places["reviews"], case.reviewed)],
            )
        ) as source:
            for place, request in enumerate(case.requests):
                counted = _facts(source.counts(request))
                if case.made.group is not None:
                    counted |= _entities(source, request)
                facts |= {f"window {place + 1}, {fact}": value for fact, value in counted.items()}
            if not case.predictions.rows:
                facts["span of no predictions"] = str(source.span())
            if case.describes:
                found = source.describe()
                facts["delays"] = str(dict(found.delay_quantiles))
                facts["span"] = f"{found.first} to {found.last}"
                facts["confirmed"] = str((found.confirmed, found.early, found.refused))
    except InputError as error:
        match = _REFUSED.match(str(error))
        facts["refused"] = f"{match[1]} has {match[2]}" if match else str(error)
    except PumonitorError as error:
        facts["failed"] = str(error)
    return Outcome(facts=facts)


def _facts(counts: WindowCounts) -> dict[str, str]:
    facts = {
        field.name.replace("_", " "): str(value)
        for field in fields(counts.found)
        if (value := getattr(counts.found, field.name))
    }
    segments = list(counts.segments.values())
    for place in range(len(counts.rows)):
        group: list[Any] = [
            f"cell {counts.cell[place]}",
            f"history {counts.history[place]}",
        ]
        if counts.propensity[place] == counts.propensity[place]:
            group.append(f"propensity {float(counts.propensity[place])!r}")
        named = [counts.model_version[place], *(one[place] for one in segments)]
        group += [repr(str(one)) for one in named if one]
        facts[", ".join(group)] = (
            f"{counts.rows[place]} rows of scores {float(counts.lower[place])!r} to "
            f"{float(counts.upper[place])!r}"
        )
    for (moment, bucket), number in _cells(counts.delays.tolist()):
        facts[f"delays at moment {moment + 1} in bucket {bucket + 1}"] = str(number)
    return facts


def _entities(source: PredictionSource, request: CountRequest) -> dict[str, str]:
    """Of the rows that something was said of."""
    rows = source.sample(
        SampleRequest(window=request.window, as_of=request.as_of, rows=0, labels=_ENTITY_ROWS)
    )
    columns = zip(rows.id, rows.key, rows.score.tolist(), rows.history.tolist(), strict=True)
    return {
        f"row {row}": f"of {str(entity)!r}, score {score!r}, history {history}"
        for row, entity, score, history in columns
    }


def _cells(table: list[list[int]]) -> list[tuple[tuple[int, int], int]]:
    return [
        ((row, column), value)
        for row, values in enumerate(table)
        for column, value in enumerate(values)
        if value
    ]
