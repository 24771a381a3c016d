"""Rows with scores and features, read as they are: for what needs rows, not counts by bin."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted`, `text` and `number`)

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.sources.column_types.columns import find_rows
from pumonitor.sources.one_table.checks import check_rows
from pumonitor.sources.one_table.opened import opened_rows
from pumonitor.sources.reach.session import Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """Columns of equal length: labels, the scores of each model, and what else was asked for.

    A feature that is missing or no number is NaN; a text that is missing is empty.
    """

    labels: NDArray[Any]
    scores: Mapping[str, NDArray[Any]]
    sample_weight: NDArray[Any] | None
    propensity: NDArray[Any] | None
    features: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def read_scored_rows(
    path: str | os.PathLike[str],
    *,
    labels: str,
    thresholds: Mapping[str, float | None],
    sample_weight: str | None = None,
    propensity: str | None = None,
    features: Sequence[str] = (),
    texts: Sequence[str] = (),
    progress: Progress | None = None,
) -> ScoredRows:
    r"""Read labels and several score columns of a CSV or Parquet file, or of all files of a glob.

    All rows are held in memory, 8 bytes a score.

    Parameters
    ----------
    path : path-like
        A file or a pattern, as in `read_score_table`.
    labels : str
        Column of labels.
    thresholds : mapping of str to float or None
        Decision threshold of each model, if it has one, by its score column: scores in 32 bits
        that are the threshold in 32 bits become the threshold.
    sample_weight, propensity : str, optional
        Columns, as in `read_score_table`.
    features : sequence of str
        Columns of numbers, true or false.
    texts : sequence of str
        Columns of anything, read as text.
    progress : callable, optional
        Called with a step's name and the share of it that is done.

    Raises
    ------
    InputError
        If the file, a column or its content cannot be used; the message says which, what, how
        often, where first, and what to do.
    SourceError
        If the file is fine to name but cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "scored.csv"
    ...     _ = file.write_text("confirmed;old;new\n1;0.9;0.8\n0;0.4;0.1\n1;0.3;0.7\n0;0.1;0.2\n")
    ...     rows = read_scored_rows(
    ...         file, labels="confirmed", thresholds={"old": 0.5, "new": 0.5}
    ...     )
    >>> rows.scores["new"].tolist()
    [0.8, 0.1, 0.7, 0.2]
    """
    given = {"sample_weight": sample_weight, "propensity": propensity}
    also = {role: column for role, column in given.items() if column is not None}
    roles = {f"feature_{number}": column for number, column in enumerate(features, start=1)}
    text_roles = {f"text_{number}": column for number, column in enumerate(texts, start=1)}
    also |= roles | text_roles
    columns: dict[str, NDArray[Any]] = {}
    scores: dict[str, NDArray[Any]] = {}
    models = {f"scores_{number}": name for number, name in enumerate(thresholds, start=1)}
    every = {"labels": labels, **models, **also}
    with opened_rows(path, every, progress=progress) as (session, location):
        for name, threshold in thresholds.items():
            # Labels and weights are checked and read with the first score only.
            is_first = not scores
            names = {"labels": labels, "scores": name, **(also if is_first else {})}
            rows = find_rows(session, location, names, threshold=threshold)
            check_rows(session, rows)
            # Propensities are read on labeled rows only; elsewhere they may be missing, here NaN.
            wanted = "label, score, weight, coalesce(propensity, 'nan'::DOUBLE) AS propensity"
            wanted += "".join(f", {_number(role)} AS {role}" for role in roles)
            wanted += "".join(f", coalesce({role}_text, '') AS {role}" for role in text_roles)
            # File by file: files of one type are read together otherwise, and each model's score
            # has its own types, so rows would come in another order.
            of_file = dict(rows.per_file())
            parts = [
                session.arrays(
                    f"SELECT {wanted if is_first else 'score'} FROM ({of_file[file]})",
                    step=f"Reading {name}",
                )
                for file in location.files
            ]
            joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
            scores[name] = joined.pop("score")
            columns |= joined
    return ScoredRows(
        labels=columns["label"],
        scores=scores,
        sample_weight=columns["weight"] if sample_weight is not None else None,
        propensity=columns["propensity"] if propensity is not None else None,
        features={column: columns[role] for role, column in roles.items()},
        texts={column: columns[role] for role, column in text_roles.items()},
    )


def _number(role: str) -> str:
    """SQL of a column as numbers, from its text, which it has whatever its type."""
    return (
        f"coalesce(CASE lower({role}_text) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
        f"ELSE try_cast({role}_text AS DOUBLE) END, 'nan'::DOUBLE)"
    )
