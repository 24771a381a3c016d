"""Store collected panes and evaluations.

All functions take the connection of an open transaction in which the claim is held.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

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
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from pumonitor.monitor.ledger.results.newest_panes import point_to_newest
from pumonitor.monitor.ledger.results.planning import recount
from pumonitor.monitor.ledger.results.retention import note_superseded

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
    numbers = [pane.number for pane in collected]
    _check_claimed(claim, "collect", numbers)
    if not collected:
        return
    _update_panes(
        connection,
        claim,
        [
            {
                "of_pane": pane.number,
                "digest": pane.digest,
                "counts": plain_json(dict(pane.counts), f"counts of pane {pane.number}"),
            }
            for pane in collected
        ],
        status="collected",
        collected_at=at,
        library_version=version,
    )
    for table in (series, auxiliary_series):
        connection.execute(
            delete(table).where(table.c.window_key == claim.window_key, table.c.pane.in_(numbers))
        )
    rows = [_series_row(claim, pane.number, one) for pane in collected for one in pane.series]
    if rows:
        connection.execute(insert(series), rows)
    recount(connection, [claim.window_key])


def _series_row(claim: Claim, number: int, one: CollectedSeries) -> dict[str, Any]:
    from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes

    return {
        "window_key": claim.window_key,
        "pane": number,
        "model_version": one.model_version,
        "segment": one.segment,
        "table_bytes": None if one.table is None else table_to_bytes(one.table),
        "class_prior": plain_json(one.class_prior, "class prior"),
        "delays": plain_json(one.delays, "delays"),
    }


def _update_panes(
    connection: Connection, claim: Claim, each: Sequence[Mapping[str, Any]], **values: Any
) -> None:
    """Update panes of a claimed window at once: `of_pane`, and columns that differ by pane."""
    if each:
        own: dict[str, Any] = {name: bindparam(name) for name in each[0] if name != "of_pane"}
        connection.execute(
            update(panes)
            .where(panes.c.window_key == claim.window_key, panes.c.number == bindparam("of_pane"))
            .values(values | own),
            [*each],
        )


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
    before = {
        row.number: row
        for row in connection.execute(
            select(panes).where(
                panes.c.window_key == claim.window_key, panes.c.number.in_([*revisions])
            )
        )
    }
    contents = {pane.number: _content_of(pane.series) for pane in evaluated}
    changed = [
        pane
        for pane in evaluated
        if _is_new(connection, claim, before[pane.number], contents[pane.number])
    ]
    _insert(connection, claim, changed, revisions, contents)
    stored = {pane.number for pane in changed}
    _update_panes(
        connection,
        claim,
        [{"of_pane": one.number} for one in evaluated if one.number not in stored],
        status="evaluated",
    )
    _update_panes(
        connection,
        claim,
        [
            {
                "of_pane": number,
                "revision": revisions[number],
                "evaluated_digest": before[number].digest,
            }
            for number in sorted(stored)
        ],
        status="evaluated",
        evaluated_at=at,
        forgotten_at=None,
        library_version=version,
    )
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


def _is_new(connection: Connection, claim: Claim, before: Row[Any], content: _Content) -> bool:
    """Whether a pane has no results of these rows yet, or others."""
    if before.revision is None or before.digest != before.evaluated_digest:
        return True
    # Deleted results are those of the same rows; they are not stored again.
    return before.forgotten_at is None and content != _stored_content(
        connection, claim, before.number, before.revision
    )


def _insert(
    connection: Connection,
    claim: Claim,
    changed: Sequence[EvaluatedPane],
    revisions: Mapping[int, int],
    contents: Mapping[int, _Content],
) -> None:
    rows = [
        (
            (claim.window_key, number, revisions[number], one.model_version, one.segment),
            contents[number][one.model_version, one.segment][0],
            one.results,
        )
        for number, series in ((pane.number, pane.series) for pane in changed)
        for one in series
    ]
    stored = [
        dict(zip(_KEY, key, strict=True)) | {"evaluation": evaluation}
        for key, evaluation, _ in rows
    ]
    if stored:
        connection.execute(insert(evaluations), stored)
    insert_many(
        connection,
        results,
        (*_KEY, "metric", *_FIELDS),
        ((*key, result.metric, *_values(result)) for key, _, of in rows for result in of),
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
