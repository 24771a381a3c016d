"""Store collected panes and evaluations.

All functions take the connection of an open transaction in which the claim is held.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from pumonitor.monitor.ledger.database.many_rows import insert_many
from pumonitor.monitor.ledger.database.plain_json import JsonText, json_text, plain_json
from pumonitor.monitor.ledger.database.schema import (
    auxiliary_series,
    evaluations,
    monitors,
    panes,
    results,
    series,
)
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from pumonitor.monitor.ledger.results.newest_panes import point_to_newest
from pumonitor.monitor.ledger.results.planning import recount
from pumonitor.monitor.ledger.results.retention import note_superseded

__all__ = ["store_collected", "store_evaluated"]

_Content = dict[tuple[str, str], tuple[JsonText, dict[str, tuple[Any, ...]]]]
_FIELDS = tuple(field.name for field in fields(MetricResult) if field.name != "metric")
_KEY = ("window_key", "pane", "revision", "model_version", "segment")
_values = attrgetter(*_FIELDS)
_numbers = attrgetter(
    "value", "low", "high", "se", "unclipped_value", "unclipped_low", "unclipped_high"
)


def store_collected(
    connection: Connection,
    claim: Claim,
    collected: Sequence[CollectedPane],
    *,
    at: datetime,
    version: str,
) -> None:
    """Store collected panes with their series, replacing earlier ones."""
    _check_claimed(claim, "collect", [pane.number for pane in collected])
    for pane in collected:
        connection.execute(
            update(panes)
            .where(panes.c.window_key == claim.window_key, panes.c.number == pane.number)
            .values(
                status="collected",
                digest=pane.digest,
                counts=plain_json(dict(pane.counts), f"counts of pane {pane.number}"),
                collected_at=at,
                library_version=version,
            )
        )
        of_pane = {"window_key": claim.window_key, "pane": pane.number}
        connection.execute(
            delete(series).where(
                series.c.window_key == claim.window_key, series.c.pane == pane.number
            )
        )
        connection.execute(
            delete(auxiliary_series).where(
                auxiliary_series.c.window_key == claim.window_key,
                auxiliary_series.c.pane == pane.number,
            )
        )
        if pane.series:
            from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes

            connection.execute(
                insert(series),
                [
                    of_pane
                    | {
                        "model_version": one.model_version,
                        "segment": one.segment,
                        "table_bytes": None if one.table is None else table_to_bytes(one.table),
                        "class_prior": plain_json(one.class_prior, "class prior"),
                        "delays": plain_json(one.delays, "delays"),
                    }
                    for one in pane.series
                ],
            )
    recount(connection, [claim.window_key])


def store_evaluated(
    connection: Connection,
    claim: Claim,
    evaluated: Sequence[EvaluatedPane],
    *,
    at: datetime,
    version: str,
) -> list[EvaluatedPane]:
    """Store evaluations and results; returns the panes whose results are new."""
    _check_claimed(claim, "evaluate", [pane.number for pane in evaluated])
    revisions = {one.pane.number: one.revision for one in claim.panes}
    changed = []
    for pane in evaluated:
        content = _content_of(pane.series)
        this_pane = and_(panes.c.window_key == claim.window_key, panes.c.number == pane.number)
        before = connection.execute(select(panes).where(this_pane)).one()
        values: dict[str, Any] = {"status": "evaluated"}
        if (
            before.revision is None
            or before.digest != before.evaluated_digest
            # Deleted results are those of the same rows; they are not stored again.
            or (
                before.forgotten_at is None
                and content != _stored_content(connection, claim, pane.number, before.revision)
            )
        ):
            _insert(connection, claim, pane, revisions[pane.number], content)
            changed.append(pane)
            values |= {
                "revision": revisions[pane.number],
                "evaluated_digest": before.digest,
                "evaluated_at": at,
                "forgotten_at": None,
                "library_version": version,
            }
        connection.execute(update(panes).where(this_pane).values(values))
    recount(connection, [claim.window_key])
    if changed:
        note_superseded(connection, claim.window_key, [pane.number for pane in changed], at=at)
        point_to_newest(connection, [claim.window_key])
        connection.execute(
            update(monitors)
            .where(
                monitors.c.name == claim.monitor,
                monitors.c.configuration == claim.configuration,
                # Another worker may have begun later and committed before.
                or_(monitors.c.last_evaluated_at.is_(None), monitors.c.last_evaluated_at < at),
            )
            .values(last_evaluated_at=at)
        )
    return changed


def _insert(
    connection: Connection,
    claim: Claim,
    pane: EvaluatedPane,
    revision: int,
    content: _Content,
) -> None:
    rows = [
        ((claim.window_key, pane.number, revision, one.model_version, one.segment), one)
        for one in pane.series
    ]
    stored = [
        dict(zip(_KEY, row, strict=True))
        | {"evaluation": content[one.model_version, one.segment][0]}
        for row, one in rows
    ]
    if stored:
        connection.execute(insert(evaluations), stored)
    insert_many(
        connection,
        results,
        (*_KEY, "metric", *_FIELDS),
        ((*row, result.metric, *_values(result)) for row, one in rows for result in one.results),
    )


def _content_of(evaluated: Sequence[EvaluatedSeries]) -> _Content:
    """The content of an evaluation in a form that compares equal to what is stored."""
    content: _Content = {}
    for one in evaluated:
        name = (one.model_version, one.segment)
        if name in content:
            msg = f"a pane has two evaluations of model version {name[0]!r}, segment {name[1]!r}"
            raise ValueError(msg)
        for result in one.results:
            for number in _numbers(result):
                if number is not None and not math.isfinite(number):
                    msg = (
                        f"results must be finite or None, got {number} for {result.metric} of "
                        f"model version {name[0]!r}, segment {name[1]!r}"
                    )
                    raise ValueError(msg)
        content[name] = (
            json_text(one.evaluation, "evaluation"),
            {result.metric: _values(result) for result in one.results},
        )
    return content


def _stored_content(connection: Connection, claim: Claim, number: int, revision: int) -> _Content:
    content: _Content = {}
    for table in (evaluations, results):
        for row in connection.execute(
            select(table).where(
                table.c.window_key == claim.window_key,
                table.c.pane == number,
                table.c.revision == revision,
            )
        ):
            name = (row.model_version, row.segment)
            if table is evaluations:
                content[name] = (json_text(row.evaluation, "evaluation"), {})
            else:
                content[name][1][row.metric] = _values(row)
    return content


def _check_claimed(claim: Claim, step: str, numbers: Sequence[int]) -> None:
    claimed = {one.pane.number for one in claim.panes}
    if claim.step != step:
        msg = f"a claim to {claim.step} cannot store what a claim to {step} does"
        raise ValueError(msg)
    if not numbers or len(set(numbers)) != len(numbers) or not set(numbers) <= claimed:
        msg = f"panes must be some of those claimed, {sorted(claimed)}, got {list(numbers)}"
        raise ValueError(msg)
