"""Scores and labels in CSV or Parquet files, read through DuckDB into a ScoreTable."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted`, `text` and `number`)

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._entities import LabeledEntities
from pumonitor._propensities import Chances, Propensities
from pumonitor._validate import as_entities, as_number, refuse_beside_entity
from pumonitor.errors import TooFewPositivesError
from pumonitor.sources.column_types.columns import Rows, find_rows
from pumonitor.sources.one_table.bins import best_bins
from pumonitor.sources.one_table.checks import Totals, check_rows
from pumonitor.sources.one_table.opened import opened_rows
from pumonitor.sources.one_table.propensities import EVERY_POSITIVE, PropensityColumn, moments_of
from pumonitor.sources.reach.session import Progress, Session, number
from pumonitor.tables import ScoreTable, Weights

_SAMPLE_ROWS = 200_000


def read_score_table(
    path: str | os.PathLike[str],
    *,
    labels: str,
    scores: str,
    threshold: float | None = None,
    sample_weight: str | None = None,
    propensity: str | float | None = None,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
    entity: str | None = None,
    max_rows_exact: int = 5_000_000,
    bins: int = 65_536,
    progress: Progress | None = None,
) -> ScoreTable:
    r"""Read a CSV or Parquet file, or all files of a glob, into a ScoreTable.

    Up to `max_rows_exact` rows the table is exact. Beyond, DuckDB groups the rows by score bin in
    constant memory and the table's `resolution` bounds the error; the bins are uniform in the
    score, its log-odds or its inverse hyperbolic sine, whichever a sample of the rows shows to be
    best, and one begins at the threshold if there is one.

    Parameters
    ----------
    path : path-like
        A file, or a pattern such as ``"scored/*.parquet"``. CSV needs a header line; commas,
        semicolons, tabs and bars are recognised. Or a table of a lake, ``delta://path`` or
        ``iceberg://catalog/namespace.table``, whose named columns are held in memory.
    labels, scores : str
        Columns: 1 confirmed positive (or true), 0 unlabeled (or false), -1 confirmed negative;
        and the score, higher = more positive.
    threshold : float, optional
        Decision threshold at which a cell of the table begins.
    sample_weight : str, optional
        Column: rows each row stands for, > 0.
    propensity : str or float, optional
        Column, or one number for all rows: P(labeled given positive, x), in (0, 1] on labeled
        rows; on others it may be 0 or missing.
    detection_rate, min_propensity : float
        As in `ScoreTable.from_arrays`.
    entity : str, optional
        Column, as in `ScoreTable.from_arrays`; read of labeled rows alone.
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
    if threshold is not None:
        threshold = as_number(threshold, name="threshold")
    if bins < 16:
        msg = f"bins must satisfy bins >= 16, got {bins}"
        raise ValueError(msg)
    names = {"labels": labels, "scores": scores}
    if sample_weight is not None:
        names["sample_weight"] = sample_weight
    if isinstance(propensity, str):
        names["propensity"] = propensity
    if entity is not None:
        refuse_beside_entity(sample_weight=sample_weight, propensity=propensity)
        names["entity"] = entity
    chance = PropensityColumn.read(
        propensity, detection_rate=detection_rate, min_propensity=min_propensity
    )
    with opened_rows(path, names, progress=progress) as (session, location):
        rows = find_rows(session, location, names, threshold=threshold)
        totals = check_rows(session, rows)
        try:
            if totals.rows <= max_rows_exact:
                table = _exact(session, rows, chance, threshold=threshold)
            else:
                table = _binned(session, rows, totals, chance, threshold=threshold, bins=bins)
        except TooFewPositivesError as error:
            msg = f"labels column '{labels}' of {location.name}: {error}"
            raise TooFewPositivesError(msg) from None
        return table if entity is None else replace(table, entities=_entities(session, rows))


def _entities(session: Session, rows: Rows) -> LabeledEntities:
    """Of the labeled rows, which are few; a row whose entity is missing is its own."""
    columns = session.arrays(
        f"SELECT coalesce(entity_text, '') AS entity, score FROM ({rows.select}) WHERE label = 1",
        step="Reading entities",
    )
    labels = np.ones(len(columns["score"]), dtype=np.int8)
    return LabeledEntities.of_rows(as_entities(columns["entity"], labels), columns["score"])


def _exact(
    session: Session, rows: Rows, chance: PropensityColumn | None, *, threshold: float | None
) -> ScoreTable:
    weight = ", weight" if rows.has("sample_weight") else ""
    # Propensities are read on labeled rows only; elsewhere they may be missing, here NaN.
    column = ", coalesce(propensity, 'nan'::DOUBLE) AS propensity"
    propensity = column if rows.has("propensity") else ""
    columns = session.arrays(
        f"SELECT label, score{weight}{propensity} FROM ({rows.select})", step="Reading rows"
    )
    known = chance or EVERY_POSITIVE
    return ScoreTable.from_arrays(
        columns["label"],
        columns["score"],
        thresholds=() if threshold is None else (threshold,),
        sample_weight=columns.get("weight"),
        propensity=None if chance is None else columns.get("propensity", chance.of_all),
        detection_rate=known.detection_rate,
        min_propensity=known.min_propensity,
    )


def _binned(
    session: Session,
    rows: Rows,
    totals: Totals,
    chance: PropensityColumn | None,
    *,
    threshold: float | None,
    bins: int,
) -> ScoreTable:
    sample = session.arrays(
        f"SELECT label, score FROM ({rows.select}) "
        f"USING SAMPLE reservoir({_SAMPLE_ROWS} ROWS) REPEATABLE (1)",
        step="Sampling rows",
    )
    chosen = best_bins(totals, sample, count=bins)
    moments = ""
    if rows.has("sample_weight") or chance is not None:
        moments = moments_of(chance or EVERY_POSITIVE)
    place = chosen.sql("score")
    if threshold is not None:
        # One integer key groups twice as fast as a bin and a flag.
        place += f" + CASE WHEN score >= {number(threshold)} THEN {chosen.count} ELSE 0 END"
    cells = session.arrays(
        f"SELECT {place} AS bin, "
        "min(score) AS lower, max(score) AS upper, "
        "count(*) FILTER (WHERE label = 1) AS labeled, "
        "count(*) FILTER (WHERE label = 0) AS unlabeled, "
        f"count(*) FILTER (WHERE label = -1) AS negative{moments} "
        f"FROM ({rows.select}) GROUP BY bin ORDER BY lower",
        step="Counting rows by score",
    )
    cells = _without_overlap(cells)
    if moments:
        return _weighted_table(cells, chance)
    return ScoreTable.from_counts(
        cells["labeled"],
        cells["unlabeled"],
        negative=cells["negative"],
        lower=cells["lower"],
        upper=cells["upper"],
    )


_COMBINED_BY = {"lower": np.minimum, "upper": np.maximum, "heaviest": np.maximum}


def _without_overlap(cells: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Join neighbouring cells that overlap, as they may by a rounding error of the logarithm."""
    reach = np.maximum.accumulate(cells["upper"])
    starts = np.flatnonzero(np.concatenate([[True], cells["lower"][1:] > reach[:-1]]))
    if len(starts) == len(reach):
        return cells
    joined: dict[str, NDArray[Any]] = {}
    for name, column in cells.items():
        combine = _COMBINED_BY.get(name, np.add)
        joined[name] = combine.reduceat(column, starts)
    return joined


def _weighted_table(cells: dict[str, NDArray[Any]], chance: PropensityColumn | None) -> ScoreTable:
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
        propensities=None
        if chance is None
        else Propensities(
            lifted=round(float(cells["lifted"].sum())),
            largest_weight=float(cells["heaviest"].max()),
            min_propensity=chance.min_propensity,
            detection_rate=chance.detection_rate,
        ),
        chances=Chances(reviewable=cells["reviewable"], expected=cells["expected"])
        if chance is not None and float(cells["with_chance"].sum()) == plain.n_unlabeled
        else None,
    )
