"""From counts to rows of the table of counts, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, InputCounts, WindowCounts
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.counted.schema import (
    DELAY,
    FOUND,
    GROUP,
    PROBLEM,
    RULE,
    TOTALS,
    VERSION,
    CountedSettings,
    FieldType,
    fields_of,
    moments_text,
)
from pumonitor.sources.windows.answers import texts_of
from pumonitor.sources.windows.counts_rows import LABEL_PROBLEMS, PREDICTION_PROBLEMS

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_schema(segments: int) -> pa.Schema:
    """The table's columns as Arrow types."""
    import pyarrow as pa

    types: dict[FieldType, Any] = {
        "bigint": pa.int64(),
        "double": pa.float64(),
        "text": pa.string(),
    }
    return pa.schema([(field.name, types[field.type]) for field in fields_of(segments)])


def rows_of(
    counts: WindowCounts,
    request: CountRequest,
    settings: CountedSettings,
    *,
    counted_at: datetime,
) -> pa.Table:
    """The set of rows that says what was counted of one window."""
    import pyarrow as pa

    groups, totals, rules = len(counts.rows), len(TOTALS), list(counts.rules)
    moment, bucket = np.nonzero(counts.delays)
    delays = len(moment)
    size = groups + delays + totals + len(rules)
    found = np.array([getattr(counts.found, name) for name in TOTALS], dtype=np.int64)

    def text(of_groups: NDArray[np.str_]) -> pa.Array:
        return pa.array([*of_groups.tolist(), *[""] * (size - groups)], pa.string())

    def whole(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
        held = np.zeros(size, dtype=np.int64)
        together = np.concatenate(parts)
        held[: len(together)] = together
        return held

    def double(of_groups: NDArray[np.float64]) -> pa.Array:
        held = np.full(size, np.nan)
        held[:groups] = of_groups
        return pa.array(held, from_pandas=True)

    columns: dict[str, Any] = {
        "format": np.full(size, VERSION, dtype=np.int64),
        "settings": [settings.text] * size,
        "counted_at": np.full(size, microseconds(counted_at), dtype=np.int64),
        "window_start": np.full(size, microseconds(request.window.start), dtype=np.int64),
        "window_end": np.full(size, microseconds(request.window.end), dtype=np.int64),
        "moments": [moments_text(request.as_of)] * size,
        "kind": [GROUP] * groups + [DELAY] * delays + [FOUND] * totals + [RULE] * len(rules),
        "name": [""] * (groups + delays) + list(TOTALS) + rules,
        "model_version": text(counts.model_version),
        "cell": whole(counts.cell, bucket),
        "history": whole(counts.history, moment),
        "lower_score": double(counts.lower),
        "upper_score": double(counts.upper),
        "propensity": double(counts.propensity),
        "n": np.concatenate(
            [counts.rows, counts.delays[moment, bucket], found, np.ones(len(rules), np.int64)]
        ),
    }
    columns |= {
        f"segment_{place}": text(counts.segments[name])
        for place, name in enumerate(settings.segments)
    }
    schema = arrow_schema(len(settings.segments))
    return pa.table({name: columns[name] for name in schema.names}, schema=schema)


def counts_in(
    columns: Mapping[str, Any], request: CountRequest, settings: CountedSettings, *, about: str
) -> WindowCounts:
    """The counts that one set of rows says.

    Parameters
    ----------
    columns : mapping of str to array
        The set's columns, numbers without NULL but for NaN in doubles.
    about : str
        The table and window, for messages.

    Raises
    ------
    InputError
        If the set is not whole.
    """
    kind = np.asarray(columns["kind"], dtype=np.str_)
    refuse_problems(columns, about=about)
    n = np.asarray(columns["n"], dtype=np.int64)
    is_found, is_delay, is_group = kind == FOUND, kind == DELAY, kind == GROUP
    every_name = np.asarray(columns["name"], dtype=np.str_)
    names = every_name[is_found]
    totals = dict(zip(names.tolist(), n[is_found].tolist(), strict=True))
    missing = [name for name in TOTALS if name not in totals]
    groups = int(n[is_group].sum())
    if missing or len(names) != len(TOTALS) or groups != totals["predictions"]:
        what = (
            f"it lacks the totals {', '.join(missing)}"
            if missing
            else f"its groups hold {groups} predictions and its total says "
            f"{totals.get('predictions')}"
            if len(names) == len(TOTALS)
            else "its totals are there more than once"
        )
        msg = (
            f"{about} is not whole: {what}; write each set in one transaction, or run the job that "
            "writes it again"
        )
        raise InputError(msg)

    def of(name: str, kind: Any) -> NDArray[Any]:
        found: NDArray[Any] = np.asarray(columns[name], dtype=kind)[is_group]
        return found

    version = texts_of(of("model_version", object))
    segments = [texts_of(of(f"segment_{place}", object)) for place in range(len(settings.segments))]
    cell, history = of("cell", np.int64), of("history", np.int64)
    propensity = of("propensity", np.float64)
    order = np.lexsort([propensity, history, cell, *segments[::-1], version])
    delays = np.zeros((len(request.as_of), len(request.delay_edges) + 1), dtype=np.int64)
    moment = np.asarray(columns["history"], dtype=np.int64)[is_delay]
    bucket = np.asarray(columns["cell"], dtype=np.int64)[is_delay]
    np.add.at(delays, (moment, bucket), n[is_delay])
    return WindowCounts(
        model_version=version[order],
        segments={
            name: values[order] for name, values in zip(settings.segments, segments, strict=True)
        },
        cell=cell[order],
        # Adding 0 makes -0.0 plain.
        lower=of("lower_score", np.float64)[order] + 0.0,
        upper=of("upper_score", np.float64)[order] + 0.0,
        history=history[order],
        propensity=propensity[order],
        rows=n[is_group][order],
        delays=delays,
        value=settings.value,
        found=InputCounts(**{name: totals[name] for name in TOTALS}),
        rules=tuple(sorted(every_name[kind == RULE].tolist())),
    )


def refuse_problems(columns: Mapping[str, Any], *, about: str) -> None:
    """Refuse a set that was counted over rows that cannot be used.

    Raises
    ------
    InputError
        With what is wrong, in which table and how often.
    """
    names = {"predictions": PREDICTION_PROBLEMS, "positives": LABEL_PROBLEMS}
    found: Counter[tuple[str, int]] = Counter()
    for row in np.flatnonzero(np.asarray(columns["kind"], dtype=np.str_) == PROBLEM):
        found[str(columns["name"][row]), abs(int(columns["cell"][row]))] += int(columns["n"][row])
    told = [
        f"{number} or more rows of {table} have a wrong {names[table][problem - 1]}"
        for (table, problem), number in sorted(found.items())
    ]
    if told:
        msg = (
            f"{about} was counted over rows that cannot be used: {', '.join(told)}; repair or drop "
            "these rows, or leave them out by a view, and run the job again"
        )
        raise InputError(msg)
