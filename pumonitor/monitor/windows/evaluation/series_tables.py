"""From the counts of a window to a score table for each pane and series."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray, IntArray
from pumonitor._propensities import Propensities
from pumonitor._reviewed import ReviewedRows
from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.monitor.ledger.records.collected import CollectedSeries, StoredSeries
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.valued_rows import ValueGroups
from pumonitor.ports import InputCounts, Pane, WindowCounts
from pumonitor.reviews.bins import labels_of_kinds
from pumonitor.sources.windows.counts_rows import LabelStates
from pumonitor.tables import ScoreTable, Weights

MOST_CELLS: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesTable:
    """The rows of one model version and segment, as known at a pane's moment.

    Attributes
    ----------
    pane : int
        Its number.
    model_version, segment : str
        "" where there is none; a segment is "column=value".
    table : ScoreTable or None
        At most 2049 cells, with an edge at the threshold; None without a table.
    undefined_reason : str or None
        Why there is no table.
    labeled, unlabeled, negative : int
        Rows that are confirmed positive, not confirmed, confirmed negative.
    flagged : int
        Rows at or above the threshold.
    digest : str
        SHA-256 of the counts before cells were joined: the same for the same known data, whichever
        engine counted them and whichever other moments were requested.
    packed : bytes or None
        The table as the ledger stores it; equal bytes are equal tables. None where it is not
        stored yet.
    """

    pane: int
    model_version: str
    segment: str
    table: ScoreTable | None
    undefined_reason: str | None
    labeled: int
    unlabeled: int
    negative: int
    flagged: int
    digest: str
    packed: bytes | None = field(default=None, repr=False)

    @property
    def predictions(self) -> int:
        """All rows."""
        return self.labeled + self.unlabeled + self.negative

    def collected(self, class_prior: Mapping[str, Any] | None = None) -> CollectedSeries:
        """The table in the form the ledger stores."""
        counts = {name: getattr(self, name) for name in _STORED}
        return CollectedSeries(
            model_version=self.model_version,
            segment=self.segment,
            table=self.table,
            class_prior=class_prior,
            delays=counts,
        )

    @classmethod
    def stored(cls, series: StoredSeries) -> SeriesTable:
        """Read a table from the form the ledger stores."""
        return cls(
            pane=series.number,
            model_version=series.model_version,
            segment=series.segment,
            table=series.table(),
            packed=series.table_bytes,
            **{name: series.delays[name] for name in _STORED},
        )


def counts_of(series: StoredSeries) -> tuple[int, int]:
    """Confirmed positives and all rows of a stored series, whose table is not unpacked."""
    counts = series.delays
    return counts["labeled"], counts["labeled"] + counts["unlabeled"] + counts["negative"]


_STORED: Final = ("undefined_reason", "labeled", "unlabeled", "negative", "flagged", "digest")


def tables_of(
    counts: WindowCounts,
    panes: Sequence[Pane],
    *,
    threshold: float,
    max_cells: int = MOST_CELLS,
    reviews: HowReviewed | None = None,
) -> tuple[SeriesTable, ...]:
    """A table for each pane, model version and segment, and the sum over a segment's values.

    Parameters
    ----------
    counts : WindowCounts
    panes : sequence of Pane
        Panes of the requested moments, in that order.
    threshold : float
        Threshold with which the rows were counted.
    max_cells : int
        Neighbouring cells are joined if there are more.
    reviews : HowReviewed, optional
        How rows were reviewed, if they were.

    Returns
    -------
    tuple of SeriesTable
        By pane, then model version, then segment. A series that has no row has no table. Where a
        row has no label its propensity does not count: those are of labeled rows.

    Raises
    ------
    InputError
        If some confirmed positives have a propensity and others have none, or one is not above 0
        and at most 1.
    """
    found: list[SeriesTable] = []
    series = [
        (version, segment, _Rows.of(counts, rows))
        for version, segment, rows in _series(
            counts,
            [column for column in counts.segments if column != counts.value]
            if reviews is None
            else reviews.segments,
        )
    ]
    for number, pane in enumerate(panes):
        groups = None
        if reviews is None:
            label = LabelStates().of_histories(counts.history, number)
        else:
            groups = reviews.kinds(counts, number)
            label = labels_of_kinds(groups.kinds).astype(np.int64)
        # With reviews it is the chance of a review, which `groups` has.
        weighted = reviews is None and _is_weighted(counts, label, pane)
        for model_version, segment, rows in series:
            cells, reason = rows.cells(label, weighted=weighted), None
            if rows.value_cell is not None:
                state = label[rows.rows] if groups is None else groups.of(rows.rows).known_kinds
                valued = ValueGroups.of(rows.place, state, rows.value_cell, rows.number)
                cells = replace(cells, valued=valued)
            if reviews is not None and groups is not None:
                try:
                    reviewed = reviews.rows_of(
                        groups.of(rows.rows),
                        lower=counts.lower[rows.rows],
                        upper=counts.upper[rows.rows],
                        number=rows.number,
                        cell=rows.place,
                        cell_lower=rows.lower,
                        rules=counts.rules,
                        is_mature=pane.state != "provisional",
                    )
                    cells = replace(cells, reviewed=reviewed)
                except InputError as error:
                    reason = str(error)
            found.append(
                _series_table(
                    cells, pane.number, model_version, segment, threshold, max_cells, reason
                )
            )
    return tuple(found)


def pane_digest(tables: Sequence[SeriesTable], found: InputCounts) -> str:
    """SHA-256 of all series of a pane, and of the rows that are not counted.

    Counts of label rows are left out, because they are those of the last requested moment.
    """
    predictions = {name: value for name, value in asdict(found).items() if "predictions" in name}
    series = sorted((one.model_version, one.segment, one.digest) for one in tables)
    return sha256(json.dumps([predictions, series], sort_keys=True).encode()).hexdigest()


def _series(
    counts: WindowCounts, columns: Iterable[str]
) -> Iterator[tuple[str, str, NDArray[np.intp]]]:
    """Model version, segment and its rows."""
    every = np.arange(len(counts.rows))
    for model_version in np.unique(counts.model_version).tolist():
        of_version = every[counts.model_version == model_version]
        yield model_version, "", of_version
        for column in columns:
            values = counts.segments[column]
            held = values[of_version]
            for value in np.unique(held).tolist():
                yield model_version, f"{column}={value}", of_version[held == value]


def _is_weighted(counts: WindowCounts, label: IntArray, pane: Pane) -> bool:
    """Whether confirmed positives carry propensities, all of them or none."""
    labeled = label == 1
    propensity, rows = counts.propensity[labeled], counts.rows[labeled]
    missing = np.isnan(propensity)
    if missing.all():
        return False
    window = f"the window from {pane.window.start.isoformat()}"
    total = int(rows.sum())
    if missing.any():
        msg = (
            f"propensity is missing for {int(rows[missing].sum())} of {total} confirmed positives "
            f"in {window}: give a propensity to each of them, or to none"
        )
        raise InputError(msg)
    wrong = ~((propensity > 0) & (propensity <= 1))
    if wrong.any():
        msg = (
            f"propensity must be above 0 and at most 1: it is not for {int(rows[wrong].sum())} of "
            f"{total} confirmed positives in {window}, for example {propensity[wrong][0]:g}"
        )
        raise InputError(msg)
    return True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    """Rows of one series by cell, and its labeled rows by cell and propensity."""

    cell: IntArray
    lower: FloatArray
    upper: FloatArray
    unlabeled: IntArray
    negative: IntArray
    labeled_cell: IntArray
    propensity: FloatArray
    labeled_rows: IntArray
    weighted: bool
    reviewed: ReviewedRows | None = None
    valued: ValueGroups | None = None

    @property
    def labeled(self) -> IntArray:
        """Confirmed positives by cell."""
        return self.summed(self.labeled_rows).astype(np.int64)

    def summed(self, values: NDArray[Any]) -> FloatArray:
        """Of labeled rows, by cell."""
        sums = np.bincount(self.labeled_cell, weights=values, minlength=len(self.cell))
        return np.asarray(sums, dtype=np.float64)

    def digest(self) -> str:
        """SHA-256 of all of it, the same on every machine."""
        hashed = sha256(b"pumonitor score cells 1\n")
        columns = (self.cell, self.lower, self.upper, self.unlabeled, self.negative)
        of_labeled = (self.labeled_cell, self.propensity, self.labeled_rows)
        kinds: tuple[FloatArray, ...] = ()
        if self.reviewed is not None:
            odds = self.reviewed.odds
            kinds = (*self.reviewed.kinds, *(() if odds is None else odds))
        queue = None if self.reviewed is None else self.reviewed.queue
        by_queue: tuple[NDArray[Any], ...] = ()
        if queue is not None:
            odds = queue.odds
            by_queue = (*queue.kinds, *queue.known, *(() if odds is None else odds))
        values = () if self.valued is None else self.valued.columns
        for column in (*columns, *of_labeled, *kinds, *by_queue, *values):
            hashed.update(f"{len(column)}\n".encode())
            hashed.update(column.astype("<f8" if column.dtype.kind == "f" else "<i8").tobytes())
        return hashed.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """Rows of one series in the order of their cells, which is the same in all of its panes."""

    rows: NDArray[np.intp]
    number: IntArray
    propensity: FloatArray
    place: NDArray[np.intp]
    cell: IntArray
    lower: FloatArray
    upper: FloatArray
    value_cell: IntArray | None = None

    @classmethod
    def of(cls, counts: WindowCounts, rows: NDArray[np.intp]) -> Self:
        rows = rows[np.argsort(counts.cell[rows], kind="stable")]
        cell = counts.cell[rows]
        is_first = np.diff(cell, prepend=-1) > 0
        starts = np.flatnonzero(is_first)
        value_cell = None
        if counts.value is not None:
            texts = counts.segments[counts.value][rows]
            value_cell = np.where(texts == "", "-1", texts).astype(np.int64)
        return cls(
            rows=rows,
            value_cell=value_cell,
            number=counts.rows[rows],
            propensity=counts.propensity[rows],
            place=np.cumsum(is_first) - 1,
            cell=cell[starts],
            lower=np.minimum.reduceat(counts.lower[rows], starts) + 0.0,
            upper=np.maximum.reduceat(counts.upper[rows], starts) + 0.0,
        )

    def cells(self, label: IntArray, *, weighted: bool) -> _Cells:
        """These rows with their labels at a moment, of which there is one for each row of all."""
        state = label[self.rows]
        labeled = np.flatnonzero(state == 1)
        place, number = self.place[labeled], self.number[labeled]
        propensity = self.propensity[labeled] if weighted else np.ones(len(labeled))
        # Whole numbers are summed first, so that no sum depends on how rows were grouped before.
        order = np.lexsort((propensity, place))
        place, propensity, number = place[order], propensity[order], number[order]
        is_first = np.ones(len(labeled), dtype=np.bool_)
        is_first[1:] = (place[1:] != place[:-1]) | (propensity[1:] != propensity[:-1])
        begins = np.flatnonzero(is_first)

        def in_cells(which: NDArray[np.bool_]) -> IntArray:
            found = np.bincount(
                self.place[which], weights=self.number[which], minlength=len(self.cell)
            )
            return found.astype(np.int64)

        return _Cells(
            cell=self.cell,
            lower=self.lower,
            upper=self.upper,
            unlabeled=in_cells(state == 0),
            negative=in_cells(state == -1),
            labeled_cell=place[begins].astype(np.int64),
            propensity=propensity[begins],
            labeled_rows=np.add.reduceat(number, begins)
            if len(begins)
            else np.empty(0, dtype=np.int64),
            weighted=weighted,
        )


def _series_table(
    cells: _Cells,
    pane: int,
    model_version: str,
    segment: str,
    threshold: float,
    max_cells: int,
    undefined_reason: str | None,
) -> SeriesTable:
    table: ScoreTable | None = None
    begins: tuple[float, ...] = (threshold,)
    if cells.reviewed is not None and cells.reviewed.queue is None:
        begins = (threshold, *cells.reviewed.cuts, *cells.reviewed.edges)
    try:
        if undefined_reason is None:
            table = _table(cells).compress(max_cells, thresholds=begins)
            if cells.valued is not None:
                valued = cells.valued.beside(table, cells.lower, begins=begins)
                table = replace(table, values=valued)
    except TooFewPositivesError as error:
        undefined_reason = f"too few positives: {error}"
    except InputError as error:
        undefined_reason = str(error)
    labeled = cells.labeled
    everything = labeled + cells.unlabeled + cells.negative
    return SeriesTable(
        pane=pane,
        model_version=model_version,
        segment=segment,
        table=table,
        undefined_reason=undefined_reason,
        labeled=int(labeled.sum()),
        unlabeled=int(cells.unlabeled.sum()),
        negative=int(cells.negative.sum()),
        flagged=int(everything[cells.cell % 2 == 1].sum()),
        digest=cells.digest(),
    )


def _table(cells: _Cells) -> ScoreTable:
    """The table with all its cells; with weights where there are propensities."""
    counted = cells.labeled
    plain = ScoreTable.from_counts(
        counted,
        cells.unlabeled,
        negative=cells.negative,
        lower=cells.lower,
        upper=cells.upper,
    )
    if not cells.weighted:
        return replace(plain, reviewed=cells.reviewed)
    weight = 1 / cells.propensity
    represented = cells.summed(cells.labeled_rows * weight)
    return ScoreTable(
        lower=plain.lower,
        upper=plain.upper,
        labeled=represented,
        unlabeled=plain.unlabeled,
        negative=plain.negative,
        n_labeled=plain.n_labeled,
        n_unlabeled=plain.n_unlabeled,
        n_negative=plain.n_negative,
        weights=Weights(
            labeled_squares=cells.summed(cells.labeled_rows * weight**2),
            labeled_mass=plain.labeled,
            labeled_mass_squares=plain.labeled,
            labeled_cross=represented,
            unlabeled_squares=plain.unlabeled,
            negative_squares=plain.negative,
        ),
        propensities=Propensities(
            lifted=0,
            largest_weight=float(weight.max()),
            min_propensity=0.0,
            detection_rate=1.0,
        ),
    )
