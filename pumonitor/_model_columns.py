"""Scores and thresholds of the models of a comparison, checked one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_number, as_scores, check_same_index
from pumonitor.errors import InputError


def score_columns(
    labels: Any, label_values: NDArray[np.int8], scores: Any
) -> dict[str, NDArray[Any]]:
    """Scores by model, checked one by one."""
    check_same_index(labels, scores)
    found: dict[str, NDArray[Any]] = {}
    for name, values in _named(scores):
        check_same_index(labels, values)
        column = as_scores(values, name=f"scores of {name!r}")
        if len(column) != len(label_values):
            msg = (
                f"scores of {name!r} must have one value per label: got {len(column)} scores for "
                f"{len(label_values)} labels"
            )
            raise InputError(msg)
        found[name] = column
    if len(found) < 2:
        msg = (
            f"scores must hold two models or more, got {len(found)}"
            f"{f' ({next(iter(found))!r})' if found else ''}: for one model use evaluate"
        )
        raise InputError(msg)
    return found


def _named(scores: Any) -> Iterator[tuple[str, Any]]:
    """Name and values of each model, from a mapping or a data frame."""
    if isinstance(scores, Mapping):
        for name, values in scores.items():
            if not isinstance(name, str):
                msg = f"names of models must be text, got {name!r} of type {type(name).__name__}"
                raise TypeError(msg)
            yield name, values
        return
    if hasattr(type(scores), "collect"):
        msg = f"scores is a {type(scores).__name__} whose columns are not loaded: collect it first"
        raise TypeError(msg)
    if not hasattr(scores, "columns"):
        msg = (
            "scores must be a mapping from model name to scores, or a data frame with a column of "
            f"scores for each model, got {type(scores).__name__}"
        )
        raise TypeError(msg)
    import narwhals as nw

    names = [str(name) for name in getattr(scores, "column_names", scores.columns)]
    twice = [f"{name!r} ({count} times)" for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = f"scores has columns of the same name: {', '.join(twice)}; give each model its own"
        raise InputError(msg)
    frame = nw.from_native(scores, eager_only=True)
    for name, column in zip(names, frame.iter_columns(), strict=True):
        yield name, column.to_native()


def model_thresholds(
    threshold: float | Mapping[str, float], columns: Mapping[str, NDArray[Any]]
) -> dict[str, float]:
    """Threshold of each model, in the precision of its scores, as `scores >= threshold` has it."""
    if isinstance(threshold, Mapping):
        missing = [repr(name) for name in columns if name not in threshold]
        unknown = [repr(name) for name in threshold if name not in columns]
        if missing or unknown:
            parts = [f"none for {', '.join(missing)}"] if missing else []
            parts += [f"{', '.join(unknown)} is not a model"] if unknown else []
            msg = (
                f"threshold must name the models {', '.join(map(repr, columns))}, one threshold "
                f"each: {'; '.join(parts)}"
            )
            raise ValueError(msg)
    given = threshold if isinstance(threshold, Mapping) else dict.fromkeys(columns, threshold)
    found: dict[str, float] = {}
    for name, values in columns.items():
        number = as_number(given[name], name=f"threshold of {name!r}")
        found[name] = float(values.dtype.type(number))
    return found
