"""Scores and labels in CSV or Parquet files, read through DuckDB into a ScoreTable."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted`, `text` and `number`)

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import TooFewPositivesError
from pumonitor.sources.bins import best_bins
from pumonitor.sources.checks import Totals, check_rows
from pumonitor.sources.columns import Rows, find_rows
from pumonitor.sources.locations import locate
from pumonitor.sources.session import Progress, Session, number, open_session
from pumonitor.tables import ScoreTable, Weights

__all__ = ["read_score_table"]

_SAMPLE_ROWS = 200_000


def read_score_table(
    path: str | os.PathLike[str],
    *,
    labels: str,
    scores: str,
    threshold: float,
    sample_weight: str | None = None,
    propensity: str | None = None,
    max_rows_exact: int = 5_000_000,
    bins: int = 65_536,
    progress: Progress | None = None,
) -> ScoreTable:
    r"""Read a CSV or Parquet file, or all files of a glob, into a ScoreTable.

    Up to `max_rows_exact` rows the table is exact. Beyond, DuckDB groups the rows by score bin in
    constant memory and the table's `resolution` bounds the error; the bins are uniform in the
    score, its log-odds or its inverse hyperbolic sine, whichever a sample of the rows shows to be
    best, and one begins at the threshold.

    Parameters
    ----------
    path : path-like
        A file, or a pattern such as ``"scored/*.parquet"``. CSV needs a header line; commas,
        semicolons, tabs and bars are recognised.
    labels, scores : str
        Columns: 1 confirmed positive (or true), 0 unlabeled (or false), -1 confirmed negative;
        and the score, higher = more positive.
    threshold : float
        Decision threshold at which a cell of the table begins.
    sample_weight, propensity : str, optional
        Columns: rows each row stands for, > 0; P(labeled given positive, x) in (0, 1], read on
        labeled rows.
    max_rows_exact : int
        Most rows that are loaded into memory.
    bins : int
        Score bins beyond that, >= 16.
    progress : callable, optional
        Called with a step's name and the share of it that is done.

    Raises
    ------
    InputError
        If the file, a column or its content cannot be used; the message says which, what, how
        often, where first, and what to do.
    TooFewPositivesError
        If fewer than two rows are confirmed positives.
    SourceError
        If the file is fine to name but cannot be read.

    Notes
    -----
    A score column of 32-bit floats is compared with the threshold in 32 bits, as
    ``scores >= threshold`` does in numpy.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pumonitor.sources import read_score_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "scored.csv"
    ...     _ = file.write_text("confirmed;score\n1;0.9\n0;0.4\n1;0.7\n0;0.1\n")
    ...     table = read_score_table(file, labels="confirmed", scores="score", threshold=0.5)
    >>> table.n_labeled, table.n_unlabeled
    (2, 2)
    """
    if not math.isfinite(threshold):
        msg = f"threshold must be finite, got {threshold}"
        raise ValueError(msg)
    if bins < 16:
        msg = f"bins must satisfy bins >= 16, got {bins}"
        raise ValueError(msg)
    names = {"labels": labels, "scores": scores}
    if sample_weight is not None:
        names["sample_weight"] = sample_weight
    if propensity is not None:
        names["propensity"] = propensity
    location = locate(path)
    with open_session(location, progress=progress) as session:
        rows = find_rows(session, location, names, threshold=threshold)
        totals = check_rows(session, rows)
        try:
            if totals.rows <= max_rows_exact:
                return _exact(session, rows, threshold=threshold)
            return _binned(session, rows, totals, threshold=threshold, bins=bins)
        except TooFewPositivesError as error:
            msg = f"labels column '{labels}' of {location.name}: {error}"
            raise TooFewPositivesError(msg) from None


def _exact(session: Session, rows: Rows, *, threshold: float) -> ScoreTable:
    weight = ", weight" if rows.has("sample_weight") else ""
    # Propensities are read on labeled rows only; elsewhere they may be missing.
    propensity = ", coalesce(propensity, 1.0) AS propensity" if rows.has("propensity") else ""
    columns = session.arrays(
        f"SELECT label, score{weight}{propensity} FROM ({rows.select})", step="Reading rows"
    )
    return ScoreTable.from_arrays(
        columns["label"],
        columns["score"],
        thresholds=[threshold],
        sample_weight=columns.get("weight"),
        propensity=columns.get("propensity"),
    )


def _binned(
    session: Session, rows: Rows, totals: Totals, *, threshold: float, bins: int
) -> ScoreTable:
    sample = session.arrays(
        f"SELECT label, score FROM ({rows.select}) "
        f"USING SAMPLE reservoir({_SAMPLE_ROWS} ROWS) REPEATABLE (1)",
        step="Sampling rows",
    )
    chosen = best_bins(totals, sample, count=bins)
    is_weighted = rows.has("sample_weight") or rows.has("propensity")
    cells = session.arrays(
        # One integer key groups twice as fast as a bin and a flag.
        f"SELECT {chosen.sql('score')} + CASE WHEN score >= {number(threshold)} "
        f"THEN {chosen.count} ELSE 0 END AS bin, "
        "min(score) AS lower, max(score) AS upper, "
        "count(*) FILTER (WHERE label = 1) AS labeled, "
        "count(*) FILTER (WHERE label = 0) AS unlabeled, "
        f"count(*) FILTER (WHERE label = -1) AS negative{_MOMENTS if is_weighted else ''} "
        f"FROM ({rows.select}) GROUP BY bin ORDER BY lower",
        step="Counting rows by score",
    )
    cells = _without_overlap(cells)
    if is_weighted:
        return _weighted_table(cells)
    return ScoreTable.from_counts(
        cells["labeled"],
        cells["unlabeled"],
        negative=cells["negative"],
        lower=cells["lower"],
        upper=cells["upper"],
    )


def _sum(expression: str, label: int, name: str) -> str:
    return f", coalesce(sum({expression}) FILTER (WHERE label = {label}), 0.0) AS {name}"


_MOMENTS = "".join(
    [
        _sum("weight / propensity", 1, "labeled_sum"),
        _sum("(weight / propensity) ** 2", 1, "labeled_squares"),
        _sum("weight", 1, "labeled_mass"),
        _sum("weight ** 2", 1, "labeled_mass_squares"),
        _sum("weight ** 2 / propensity", 1, "labeled_cross"),
        _sum("weight", 0, "unlabeled_sum"),
        _sum("weight ** 2", 0, "unlabeled_squares"),
        _sum("weight", -1, "negative_sum"),
        _sum("weight ** 2", -1, "negative_squares"),
    ]
)
"""The sums a table of weighted rows needs beside its counts."""


def _without_overlap(cells: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Join neighbouring cells that overlap, as they may by a rounding error of the logarithm."""
    reach = np.maximum.accumulate(cells["upper"])
    starts = np.flatnonzero(np.concatenate([[True], cells["lower"][1:] > reach[:-1]]))
    if len(starts) == len(reach):
        return cells
    joined: dict[str, NDArray[Any]] = {}
    for name, column in cells.items():
        combine = {"lower": np.minimum, "upper": np.maximum}.get(name, np.add)
        joined[name] = combine.reduceat(column, starts)
    return joined


def _weighted_table(cells: dict[str, NDArray[Any]]) -> ScoreTable:
    # Checks the numbers of rows and the order of cells, which weights do not change.
    plain = ScoreTable.from_counts(
        cells["labeled"],
        cells["unlabeled"],
        negative=cells["negative"],
        lower=cells["lower"],
        upper=cells["upper"],
    )
    return ScoreTable(
        lower=plain.lower,
        upper=plain.upper,
        labeled=cells["labeled_sum"],
        unlabeled=cells["unlabeled_sum"],
        negative=cells["negative_sum"],
        n_labeled=plain.n_labeled,
        n_unlabeled=plain.n_unlabeled,
        n_negative=plain.n_negative,
        weights=Weights(
            labeled_squares=cells["labeled_squares"],
            labeled_mass=cells["labeled_mass"],
            labeled_mass_squares=cells["labeled_mass_squares"],
            labeled_cross=cells["labeled_cross"],
            unlabeled_squares=cells["unlabeled_squares"],
            negative_squares=cells["negative_squares"],
        ),
    )
