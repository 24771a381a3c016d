"""Windows, their panes and counts, and the port to where rows are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pumonitor.audit.requests import BinRequest, BinRows, CaseRequest, DrawnRow

State = Literal["provisional", "mature", "final"]

Progress = Callable[[str, float], None]
"""Called with a step's name and the share of it that is done."""

Clock = Callable[[], datetime]
"""The time now, with its zone."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Window:
    """A stretch of time, from `start` up to but not including `end`.

    Attributes
    ----------
    start, end : datetime
        In UTC.
    index : int
        Number of the window since 1970, the same whenever it is computed.
    """

    start: datetime
    end: datetime
    index: int


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pane:
    """A window as it is known at one moment.

    Attributes
    ----------
    window : Window
    number : int
        0 for the first look at the window, and so on.
    state : {"provisional", "mature", "final"}
    as_of : datetime
        Labels known later do not count.
    """

    window: Window
    number: int
    state: State
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRequest:
    """Which counts of one window are wanted.

    Attributes
    ----------
    window : Window
    as_of : tuple of datetime
        Ascending moments, at most 8: one label state per moment.
    threshold : float
        Decision threshold, an edge of the score's cells.
    delay_edges : tuple of float
        Ascending label ages in seconds, the first above 0: edges of the buckets in which delays are
        counted.
    """

    window: Window
    as_of: tuple[datetime, ...]
    threshold: float
    delay_edges: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCounts:
    """What a source found in the rows of one window: nothing is dropped unseen.

    Attributes
    ----------
    predictions : int
        Rows that count, after duplicates.
    duplicate_predictions : int
        Further rows of an id in the window with the same score; the first stands.
    conflicting_predictions : int
        Further rows of an id in the window with another score; the first (by time) stands.
    label_rows : int
        Rows of labels known by the last moment asked for whose prediction is in the window.
    duplicate_labels : int
        Rows that repeat what an earlier row of the id said.
    conflicting_labels : int
        Rows of one id and one moment that say different things; they count as unlabeled.
    retracted_labels : int
        Ids whose later label says otherwise than an earlier one; the later stands.
    early_labels : int
        Rows of labels known before their prediction was made, by a day at most, as clocks may
        differ or a date stand for a time; they count.
    refused_labels : int
        Rows of labels known more than a day before their prediction was made: they cannot be about
        it, and do not count.
    late_labels : int
        Labels first known after the maturity moment, filled in by the caller.
    orphan_labels : int or None
        Rows of labels, known within the window, whose id is in no prediction at all; None where a
        damaged file may have them.
    """

    predictions: int = 0
    duplicate_predictions: int = 0
    conflicting_predictions: int = 0
    label_rows: int = 0
    duplicate_labels: int = 0
    conflicting_labels: int = 0
    retracted_labels: int = 0
    early_labels: int = 0
    refused_labels: int = 0
    late_labels: int = 0
    orphan_labels: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedLabels:
    """Labels whose id is in no prediction, beyond what late or older predictions explain.

    Attributes
    ----------
    known : int
        Rows of labels known in the stretch of time that was looked at.
    unmatched : int
        Those of them whose id is in no prediction.
    examples : tuple of str
        Ids of some.
    repair : str
        What would make ids match; "" if nothing that was tried does.
    repaired, tried : int
        Ids that would match then, of so many that were tried.
    """

    known: int
    unmatched: int
    examples: tuple[str, ...] = ()
    repair: str = ""
    repaired: int = 0
    tried: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerCounts:
    """What a reviewer said of cases, beside what others said of them.

    Attributes
    ----------
    name : str
    cases : int
        With a verdict of theirs, or undecided by them.
    shared, differ : int
        Cases that another one decided as well, and those that one of these decided otherwise.
    """

    name: str
    cases: int
    shared: int
    differ: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowCounts:
    """Numbers of rows of one window by model version, segment, score cell and label state.

    Rows are sorted by all their keys, so that the same data give the same bytes in every engine.

    Attributes
    ----------
    model_version : ndarray of str, shape (rows,)
        "" without such a column.
    segments : mapping of str to ndarray of str, shape (rows,) each
        By segment column; a missing value is "".
    cell : ndarray of int, shape (rows,)
        `2 * grid index + (score >= threshold)`.
    lower, upper : ndarray of float, shape (rows,)
        Least and largest score of these rows.
    history : ndarray of int, shape (rows,)
        Label state at each moment asked for: the sum of (1 + label) * 3**k over moments k, so that
        labels -1, 0 and 1 are digits 0, 1 and 2. With reviews the sum of state * 52**k over
        moments k (`pumonitor.reviews.states`).
    propensity : ndarray of float, shape (rows,)
        Chance that such a positive is confirmed; NaN where no label or no column.
    rows : ndarray of int, shape (rows,)
    delays : ndarray of int, shape (moments, buckets + 1)
        Positives by the moment at which they first counted as such (row) and by how long after
        their prediction they became known (column k: up to and including delay_edges[k], the last
        one: later), over all versions and segments. A retracted positive is not in it.
    found : InputCounts
    versions : mapping of str to mapping of str to str
        Of tables in lakes, by "predictions" and "positives": which version was read. By
        "unverified_engine" the name and version of an engine whose counts were never compared with
        DuckDB's. By "read_by" what is known of reading the window: engine, version, seconds, and
        of warehouses query_ids and bytes, as far as they tell. Where several windows were counted
        together these are of all of them, and `windows` says of how many.
    unmatched : UnmatchedLabels or None
        Of labels known within the window, if there is something to report.
    value : str or None
        Which of the segments has the cells of what rows are worth (`pumonitor._valued`), "" where
        that cannot be used.
    rules : tuple of str
        Reasons of reviews that were taken for rules.
    reviewers : tuple of tuple of ReviewerCounts
        At each moment, who gave verdicts since the window began; empty where nobody is named.
    """

    model_version: NDArray[np.str_]
    segments: Mapping[str, NDArray[np.str_]]
    cell: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    history: NDArray[np.int64]
    propensity: NDArray[np.float64]
    rows: NDArray[np.int64]
    delays: NDArray[np.int64]
    found: InputCounts
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unmatched: UnmatchedLabels | None = None
    value: str | None = None
    rules: tuple[str, ...] = ()
    reviewers: tuple[tuple[ReviewerCounts, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """Which rows of one window are wanted with their features.

    Attributes
    ----------
    window : Window
    as_of : tuple of datetime
        Ascending moments, at most 8: one label state per moment.
    rows : int
        How many at most of all rows of the window.
    labels : int
        How many at most of those that a label is known of by the last moment.
    """

    window: Window
    as_of: tuple[datetime, ...]
    rows: int
    labels: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledRows:
    """Rows of one window with their features, the same ones whenever they are asked for.

    Rows are drawn by a hash of their id, so that the sample of a window does not depend on its
    labels, on the engine, or on the day.

    Attributes
    ----------
    id : ndarray of str, shape (rows,)
    key : ndarray of str, shape (rows,)
        The entity each row is of, or its id where no entity is named or known.
    made : ndarray of int, shape (rows,)
        When the prediction was made, in microseconds since 1970.
    model_version : ndarray of str, shape (rows,)
        "" without such a column.
    segments : mapping of str to ndarray of str, shape (rows,) each
    score : ndarray of float, shape (rows,)
    history : ndarray of int, shape (rows,)
        Label state at each moment, as in `WindowCounts`.
    propensity : ndarray of float, shape (rows,)
        NaN where no label or no column.
    is_sampled : ndarray of bool, shape (rows,)
        Whether the row stands for all rows of the window, whatever their label; the others are
        there for the label that is known of them.
    features : mapping of str to ndarray, shape (rows,) each
        Floats, NaN where missing, or text and None, by column.
    """

    id: NDArray[np.str_]
    key: NDArray[np.str_]
    made: NDArray[np.int64]
    model_version: NDArray[np.str_]
    segments: Mapping[str, NDArray[np.str_]]
    score: NDArray[np.float64]
    history: NDArray[np.int64]
    propensity: NDArray[np.float64]
    is_sampled: NDArray[np.bool_]
    features: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDescription:
    """What `pumonitor check` shows of the reviews of a queue.

    Attributes
    ----------
    name : str
        Of its table.
    positive, negative, undecided : int
        Rows with such a verdict.
    waiting : int
        Cases that were queued and have no verdict yet.
    reasons : mapping of str to int
        Rows by the word that says why they were reviewed; empty where no column does.
    rules : tuple of str
        Those words that were taken for rules.
    columns : mapping of str to str
        Column names and types.
    sample : sequence of mapping
        Five rows, as plain values.
    """

    name: str
    positive: int
    negative: int
    undecided: int
    waiting: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    sample: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDescription:
    """What `pumonitor check` shows of a source.

    Attributes
    ----------
    engine : str
        "duckdb", "postgresql", "sqlite", "pandas", ...
    columns : mapping of str to str
        Column names and types of the predictions.
    label_columns : mapping of str to str
    sample : sequence of mapping
        Five prediction rows, as plain values.
    label_sample : sequence of mapping
    predictions, labels : int
        Rows.
    first, last : datetime or None
        Of the predictions.
    delay_quantiles : mapping of float to float
        Seconds from prediction to confirmation, by level (0.1, 0.5, 0.9), of what counts.
    confirmed, early, refused : int
        Predictions with a confirmation; those first confirmed before they were made, by a day at
        most; those by more than a day, whose confirmations do not count.
    doubts, limits : tuple of str
        Why the counts of an engine may be wrong, and what it does not ensure: reading alone, a
        snapshot.
    unmatched : UnmatchedLabels or None
        If there is something to report.
    reviews : tuple of QueueDescription
        Of each queue; labels are what is known by complaints and reviews together then.
    complaints : int
        Rows of complaints, where there are reviews.
    """

    engine: str
    columns: Mapping[str, str]
    label_columns: Mapping[str, str]
    sample: Sequence[Mapping[str, Any]]
    label_sample: Sequence[Mapping[str, Any]]
    predictions: int
    labels: int
    first: datetime | None
    last: datetime | None
    delay_quantiles: Mapping[float, float] = field(default_factory=dict)
    confirmed: int = 0
    early: int = 0
    refused: int = 0
    doubts: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    unmatched: UnmatchedLabels | None = None
    reviews: tuple[QueueDescription, ...] = ()
    complaints: int = 0


class PredictionSource(Protocol):
    """Predictions and the labels that became known, wherever they are."""

    def counts(self, request: CountRequest, *, progress: Progress | None = None) -> WindowCounts:
        """Counts of one window at several moments, from one query."""

    def counts_of_many(
        self, requests: Sequence[CountRequest]
    ) -> Iterator[WindowCounts | Exception]:
        """Counts of several windows, in the order of requests, each as `counts` gives it.

        In place of a window that cannot be counted comes the error that `counts` raises, and the
        others are counted all the same. A source that reads rows once for many windows says how;
        this is for those that do not.
        """
        for request in requests:
            try:
                yield self.counts(request)
            except Exception as error:  # noqa: BLE001 (the caller says what becomes of it)
                yield error

    def sample(self, request: SampleRequest) -> SampledRows:
        """Some rows of one window with their features.

        Raises
        ------
        InputError
            If no features are named, or their columns cannot be used.
        """

    def bins(self, request: BinRequest) -> BinRows:
        """Rows and confirmed positives of one window by score bin."""

    def draw(self, request: CaseRequest) -> tuple[DrawnRow, ...]:
        """Rows of one window with the smallest keys of their bin, in the order of these."""

    def span(self) -> tuple[datetime, datetime] | None:
        """Times of the first and the last prediction; None without any."""

    def set_aside(self) -> tuple[str, ...]:
        """What `span` left out, in a sentence each: rows ahead of now, files that are damaged."""

    def describe(self) -> SourceDescription:
        """Look at both tables."""

    def close(self) -> None:
        """Let go of files and connections."""
