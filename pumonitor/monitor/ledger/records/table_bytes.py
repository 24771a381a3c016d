"""Serialise score tables: a JSON header and the columns, all compressed. No pickle.

A column is stored in the smallest type that reproduces it exactly; counts are nearly always small
integers.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._entities import LabeledEntities
from pumonitor._propensities import Chances, Propensities
from pumonitor._reviewed import QueueBins, ReviewedRows
from pumonitor._valued import ValuedRows
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.tables import ScoreTable, Weights

_MAGIC = b"PUT1"
_COLUMNS = ("lower", "upper", "labeled", "unlabeled", "negative")
_OF_REVIEWS = ("cuts", "edges", "rules")
_WITH_ROWS = {"entities": ("entity", "scores"), "values": ("score", "state", "value", "rows")}
"""Parts of a table that have rows of their own and not one a cell, with their columns."""
_WHOLE = ("|u1", "<u2", "<u4", "<i8")
_STORED = frozenset({*_WHOLE, "<f4", "<f8"})
_LEVEL = 6


def table_to_bytes(table: ScoreTable) -> bytes:
    """Serialise a table, with weights, propensities, entities and values if it has them.

    Examples
    --------
    >>> table = ScoreTable.from_counts([2, 3], [50, 10], edges=[0.0, 0.5, 1.0])
    >>> table_from_bytes(table_to_bytes(table)).unlabeled.tolist()
    [50.0, 10.0]
    """
    columns: dict[str, NDArray[Any]] = {name: getattr(table, name) for name in _COLUMNS}
    for part in ("weights", "chances", *_WITH_ROWS):
        group = getattr(table, part)
        if group is not None:
            names = _WITH_ROWS.get(part) or [item.name for item in fields(group)]
            columns |= {f"{part}.{name}": getattr(group, name) for name in names}
    if table.reviewed is not None:
        columns |= _rows_of("reviewed", table.reviewed.kinds)
        if table.reviewed.odds is not None:
            columns |= _rows_of("odds", table.reviewed.odds)
        if (queue := table.reviewed.queue) is not None:
            columns |= _rows_of("known", queue.known) | _rows_of("possible", queue.possible)
    packed = {name: _packed(column) for name, column in columns.items()}
    header = {
        "columns": [[name, columns[name].dtype.str, packed[name].dtype.str] for name in columns],
        "cells": len(table),
        "n_labeled": table.n_labeled,
        "n_unlabeled": table.n_unlabeled,
        "n_negative": table.n_negative,
        "propensities": None if table.propensities is None else asdict(table.propensities),
    }
    if table.reviewed is not None:
        header["reviewed"] = {name: getattr(table.reviewed, name) for name in _OF_REVIEWS}
        if queue is not None:
            odds = None if queue.odds is None else queue.odds.tolist()
            header["queue"] = {
                "edges": queue.edges,
                "kinds": queue.kinds.tolist(),
                "odds": odds,
                "design_effect": queue.design_effect,
            }
    if table.entities is not None:
        header["entities"] = {"number": table.entities.number, "rows": len(table.entities.entity)}
    if table.values is not None:
        effect = table.values.design_effect
        header["values"] = {"rows": len(table.values.rows), "design_effect": effect}
    described = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    body = b"".join(packed[name].tobytes() for name in columns)
    return _MAGIC + zlib.compress(len(described).to_bytes(4, "little") + described + body, _LEVEL)


def table_from_bytes(stored: bytes) -> ScoreTable:
    """Read a table that `table_to_bytes` wrote.

    Raises
    ------
    StateError
        If the bytes are not from `table_to_bytes`.
    """
    if stored[:4] != _MAGIC:
        msg = f"a stored score table must begin with {_MAGIC!r}, found {bytes(stored[:4])!r}"
        raise StateError(msg)
    try:
        return _read(zlib.decompress(stored[4:]))
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        msg = f"a stored score table is damaged: {error}"
        raise StateError(msg) from None


def _read(content: bytes) -> ScoreTable:
    begin = 4 + int.from_bytes(content[:4], "little")
    header = json.loads(content[4:begin])
    cells = int(header["cells"])
    columns: dict[str, NDArray[Any]] = {}
    for name, dtype, kept in header["columns"]:
        if not {dtype, kept} <= _STORED:
            msg = f"column {name!r} is of type {dtype} as {kept}"
            raise ValueError(msg)
        part = name.partition(".")[0]
        size = int(header[part]["rows"]) if part in _WITH_ROWS else cells
        columns[name] = np.frombuffer(content, kept, size, begin).astype(dtype)
        begin += columns[name].size * np.dtype(kept).itemsize
    if begin != len(content):
        msg = f"{len(content) - begin} bytes are left over"
        raise ValueError(msg)

    def group(part: str) -> dict[str, NDArray[Any]]:
        prefix = f"{part}."
        return {
            name.removeprefix(prefix): column
            for name, column in columns.items()
            if name.startswith(prefix)
        }

    facts, reviewed = header["propensities"], header.get("reviewed")

    def stacked(part: str) -> NDArray[Any]:
        return np.array([rows for _, rows in sorted(group(part).items())])

    queue = header.get("queue")
    return ScoreTable(
        lower=columns["lower"],
        upper=columns["upper"],
        labeled=columns["labeled"],
        unlabeled=columns["unlabeled"],
        negative=columns["negative"],
        n_labeled=int(header["n_labeled"]),
        n_unlabeled=int(header["n_unlabeled"]),
        n_negative=int(header["n_negative"]),
        weights=Weights(**group("weights")) if group("weights") else None,
        chances=Chances(**group("chances")) if group("chances") else None,
        propensities=None if facts is None else Propensities(**facts),
        entities=LabeledEntities(**group("entities"), number=int(header["entities"]["number"]))
        if "entities" in header
        else None,
        values=ValuedRows(**group("values"), design_effect=float(header["values"]["design_effect"]))
        if "values" in header
        else None,
        reviewed=None
        if reviewed is None
        else ReviewedRows(
            kinds=stacked("reviewed"),
            odds=stacked("odds") if group("odds") else None,
            **{name: tuple(reviewed[name]) for name in _OF_REVIEWS},
            queue=None
            if queue is None
            else QueueBins(
                edges=tuple(queue["edges"]),
                kinds=np.array(queue["kinds"], dtype=np.int64),
                known=stacked("known"),
                possible=stacked("possible"),
                # Tables that were stored before have no key for them.
                odds=None if (odds := queue.get("odds")) is None else np.array(odds, float),
                design_effect=queue.get("design_effect", 1.0),
            ),
        ),
    )


def _rows_of(part: str, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {f"{part}.{at:02}": row for at, row in enumerate(rows)}


def _packed(column: NDArray[Any]) -> NDArray[Any]:
    """Convert a column to the smallest type that reproduces it exactly."""
    column = column.astype(column.dtype.newbyteorder("<"))
    bits = column.tobytes()
    for kind in _WHOLE:
        with np.errstate(invalid="ignore"):
            candidate = column.astype(kind)
        if candidate.astype(column.dtype).tobytes() == bits:
            return candidate
    return column
