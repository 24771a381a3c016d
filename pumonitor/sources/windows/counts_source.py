"""Predictions in one engine and labels in the same or another, counted where predictions are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from pumonitor.errors import DamagedFileError, InputError, PumonitorError
from pumonitor.ports import (
    Clock,
    CountRequest,
    Progress,
    SampledRows,
    SampleRequest,
    SourceDescription,
    UnmatchedLabels,
    Window,
    WindowCounts,
)
from pumonitor.scans import Scan
from pumonitor.sources.column_types.column_kinds import Key, Relation
from pumonitor.sources.column_types.time_columns import (
    CLOCKS_DIFFER,
    EARLIEST,
    LATEST,
)
from pumonitor.sources.windows.asking import LoadIds
from pumonitor.sources.windows.both_channels import BOTH_CHANNELS, ReviewTable
from pumonitor.sources.windows.cost import Cost, Stopwatch
from pumonitor.sources.windows.counting import count_window
from pumonitor.sources.windows.counts_engine import Engine, EngineRemarks
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.counts_rows import LabelTable, PredictionTable
from pumonitor.sources.windows.damaged_files import check_files, naming_file, waits_for
from pumonitor.sources.windows.described import named_columns, sample_of, types_of
from pumonitor.sources.windows.drawing import DrawQuery, count_bins, draw_rows
from pumonitor.sources.windows.extent import MOST_AHEAD, Extent, ahead, extent_of
from pumonitor.sources.windows.label_delays import LabelDelays
from pumonitor.sources.windows.label_parts import rows_of_all
from pumonitor.sources.windows.labels_at_hand import LabelsAtHand
from pumonitor.sources.windows.refusing import check_labels, check_predictions
from pumonitor.sources.windows.sampling import SampleQuery, sample_window
from pumonitor.sources.windows.several import CountedWindow
from pumonitor.sources.windows.together import Together
from pumonitor.sources.windows.unmatched_labels import (
    UnmatchedQuery,
    find_unmatched_labels,
    is_reported,
    may_be_reported,
)
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.audit.requests import BinRequest, BinRows, CaseRequest, DrawnRow

_log = logging.getLogger("pumonitor")


class CountedSource:
    """A `PredictionSource` over one engine, or two.

    Labels from another engine travel to the predictions: they are the smaller table. A table is
    fetched once, a query anew for every `:as_of`.
    """

    def __init__(
        self,
        engine: Engine,
        predictions: PredictionTable,
        label_engine: Engine,
        labels: LabelTable,
        *,
        key: Key,
        orphans: Literal["count", "skip"],
        clock: Clock,
        with_features: Callable[[], PredictionTable],
        with_shown: Callable[[Sequence[str]], PredictionTable],
        remarks: Callable[[], EngineRemarks],
        max_bytes: int | None = None,
        reviews: Sequence[tuple[Engine, ReviewTable]] = (),
    ) -> None:
        self.engine = self._engine = engine
        self._predictions = predictions
        self._label_engine = label_engine
        self._labels = labels
        self._key = key
        self._grid = predictions.grid
        self._orphans = orphans
        self._clock = clock
        self._with_features = with_features
        self._with_shown = with_shown
        self._remarks = remarks
        self._featured: PredictionTable | None = None
        self._set_aside: tuple[str, ...] = ()
        self._reviews = reviews
        self._labels_at_hand = LabelsAtHand(
            engine, label_engine, labels, self._query(labels), reviews=reviews
        )
        self.cost = Cost(engine, max_bytes=max_bytes)
        self._together = Together(self, engine, predictions, self._labels_at_hand)

    @property
    def segments(self) -> tuple[str, ...]:
        """Names of the segment columns."""
        return tuple(column.name for column in self._predictions.segments)

    @property
    def states(self) -> int | None:
        """With reviews, how many states a row may be in."""
        return BOTH_CHANNELS.number if self._reviews else None

    @property
    def ranked_by(self) -> str | None:
        """Which of the segments is the score that filled the queue."""
        ranked_by = self._predictions.ranked_by
        return None if ranked_by is None else ranked_by.name

    @property
    def value(self) -> str | None:
        """Which of the segments is what a row is worth."""
        value = self._predictions.value
        return None if value is None else value.name

    @property
    def rules(self) -> tuple[str, ...]:
        """Reasons of the reviews that have been read which are taken for rules."""
        queues = self._labels_at_hand.queues
        return tuple(sorted({rule for queue in queues for rule in queue.rules}))

    def counts(self, request: CountRequest, *, progress: Progress | None = None) -> WindowCounts:
        """Counts of one window at several moments.

        Raises
        ------
        InputError
            If rows of the window, or any label known by the last moment, cannot be used.
        SourceError
            If a table cannot be read.
        """
        self._check_files(request.window, request.as_of[-1])
        watch, query = Stopwatch(), self.query_of([request])
        with self._engine.snapshot():
            self.check_cost(query)
            self.load_both(query)
            try:
                counts = count_window(
                    self._engine, query, load_ids=self.load_ids, progress=progress
                )
            except DamagedFileError as error:
                raise self._naming_file(error, query.between) from None
            counts = self.versioned(counts, watch, request)
        return self.with_unmatched(counts, request)

    def counts_of_many(
        self, requests: Sequence[CountRequest]
    ) -> Iterator[WindowCounts | Exception]:
        """Counts of several windows, those that come one after another at once.

        In place of those that cannot be counted comes why, an InputError or SourceError. Those
        that files may have rows of that are damaged wait for these; the others do not.
        """
        waiting: dict[Window, DamagedFileError] = {}
        for request in requests:
            try:
                self._check_files(request.window, request.as_of[-1])
            except DamagedFileError as error:
                waiting[request.window] = error
        counted = self._together.counted([one for one in requests if one.window not in waiting])
        for request in requests:
            yield waiting[request.window] if request.window in waiting else next(counted)

    def _naming_file(
        self, error: DamagedFileError, between: tuple[datetime, datetime]
    ) -> DamagedFileError:
        predictions, labels = self._predictions, self._labels
        column, bounds = predictions.time.column.name, predictions.time.bounds(*between)
        return naming_file(
            error,
            (self._engine, predictions.relation, column, bounds),
            (self._label_engine, labels.relation, labels.id.name, None),
            *(
                (engine, review.labels.relation, review.labels.id.name, None)
                for engine, review in self._reviews
            ),
        )

    def _check_files(self, window: Window, as_of: datetime) -> None:
        check_files(self._predictions.relation, self._label_relations, window, as_of)

    @property
    def _label_relations(self) -> list[Relation]:
        """Of complaints or confirmations, and of reviews."""
        return [self._labels.relation, *(review.labels.relation for _, review in self._reviews)]

    def query_of(self, requests: Sequence[CountRequest]) -> CountQuery:
        """The query about one window, or about several that are alike but for time."""
        first, last = requests[0], requests[-1]
        between = (first.window.start, last.window.end)
        moments = first.as_of if len(requests) == 1 else (max(one.as_of[-1] for one in requests),)
        query = self._query(
            self._labels_at_hand.known_by(max(moments[-1], between[1])),
            between=between,
            as_of=moments,
            threshold=first.threshold,
            delay_edges=first.delay_edges,
        )
        if len(requests) == 1:
            return query
        windows = tuple(
            CountedWindow(start=one.window.start, end=one.window.end, as_of=one.as_of)
            for one in requests
        )
        return replace(query, windows=windows)

    def scan(self, request: CountRequest) -> Scan | None:
        """What counting a window would read; None where the engine does not tell.

        Raises
        ------
        SourceError
            If the engine cannot be asked.
        """
        query = self.query_of([request])
        with self._engine.snapshot():
            return self.cost.expected(query, self._statement)

    def scan_of_all(self) -> Scan | None:
        """What looking at all rows would read.

        Raises
        ------
        SourceError
            If the engine cannot be asked.
        """
        query = self._query(self._labels_at_hand.known_by(LATEST))
        with self._engine.snapshot():
            return self.cost.expected(query, _all_but_orphans)

    def check_cost(self, query: CountQuery) -> None:
        """Refuse to count windows where that would read more than is allowed."""
        start = moment_text(query.between[0])
        self.cost.check(query, self._statement, what=f"counting the window from {start}")

    def _statement(self, query: CountQuery) -> Statement:
        return query.everything(with_orphans=self.load_ids is not None)

    def versioned(
        self, counts: WindowCounts, watch: Stopwatch, request: CountRequest, *, windows: int = 1
    ) -> WindowCounts:
        """Counts with the versions of lakes and engines that were read, what it took, and who.

        Who reviewed is told of all verdicts since the window began, whichever window they are of.
        """
        read = {"predictions": self._predictions.relation, "positives": self._labels.relation}
        for number, (_, review) in enumerate(self._reviews, 1):
            read["reviews" if number == 1 else f"reviews {number}"] = review.labels.relation
        versions = {role: one.version for role, one in read.items() if one.version}
        if unverified := self._remarks().unverified:
            versions["unverified_engine"] = unverified
        versions["read_by"] = self.cost.told(watch, windows=windows)
        reviewers = tuple(
            self._labels_at_hand.reviewers.between(request.window.start, moment)
            for moment in request.as_of
        )
        return replace(
            counts,
            versions=versions,
            rules=self.rules,
            reviewers=reviewers if any(reviewers) else (),
        )

    def with_unmatched(self, counts: WindowCounts, request: CountRequest) -> WindowCounts:
        """Counts with what is to be reported of labels without prediction, if anything is."""
        orphans = counts.found.orphan_labels
        if orphans is None or not may_be_reported(orphans, counts.found.label_rows):
            return counts
        maturity = timedelta(seconds=request.delay_edges[-1] if request.delay_edges else 0)
        between = (request.window.start, request.window.end)
        query = self._unmatched_query(self._labels_at_hand.known_by(between[1]), between)
        if query.labels.relation.parts:
            # Labels in many statements make each of these as dear as the window's own.
            return counts
        try:
            with self._engine.snapshot():
                first = self._extent(query).first
                found = self._unmatched(query, orphans)
        except PumonitorError as error:
            # The window is counted: what is told beside it must not fail it.
            _log.warning("labels without prediction cannot be looked at: %s", error)
            return counts
        # Before the first prediction there were others, which labels may be about.
        has_older = first is None or first > between[0] - maturity
        if is_reported(found, is_explained=has_older and self._labels.known_at is not None):
            return replace(counts, unmatched=found)
        return counts

    def _unmatched(self, query: UnmatchedQuery, number: int) -> UnmatchedLabels:
        self._load_ids(None)
        self._engine.load(query.labels.relation, named_columns(query.labels))
        return find_unmatched_labels(self._engine, query, number=number)

    def sample(self, request: SampleRequest) -> SampledRows:
        """Some rows of one window with their features.

        Raises
        ------
        InputError
            If no features are named, or their columns cannot be used.
        SourceError
            If a table cannot be read.
        """
        self._check_files(request.window, request.as_of[-1])
        between = (request.window.start, request.window.end)
        predictions = self._featured = self._featured or self._with_features()
        query = SampleQuery(
            predictions=predictions,
            labels=self._labels_at_hand.known_by(max(request.as_of[-1], between[1])),
            dialect=self._engine.dialect,
            grid=self._grid,
            key=self._key,
            between=between,
            as_of=request.as_of,
            threshold=0.5,
        )
        with self._engine.snapshot():
            what = "drawing rows with their features"
            self.cost.check(query, lambda one: one.sampled(request.rows), what=what)
            self.load_both(query)
            return sample_window(self._engine, query, request)

    def bins(self, request: BinRequest) -> BinRows:
        """Rows and confirmed positives of one window by score bin.

        Raises
        ------
        InputError
            If rows cannot be used.
        SourceError
            If a table cannot be read.
        """
        self._check_files(request.window, request.as_of)
        query = self._draw_query(self._predictions, request)
        with self._engine.snapshot():
            self.cost.check(query, DrawQuery.bins, what="counting rows by score bin")
            self.load_both(query)
            return count_bins(self._engine, query, request)

    def draw(self, request: CaseRequest) -> tuple[DrawnRow, ...]:
        """Rows of one window with the smallest keys of their bin, in the order of these.

        Raises
        ------
        InputError
            If a column is missing, the seed cannot be used, or rows cannot be.
        SourceError
            If a table cannot be read.
        """
        self._check_files(request.window, request.as_of)
        predictions = self._with_shown(request.columns) if request.columns else self._predictions
        query = self._draw_query(predictions, request)
        with self._engine.snapshot():
            what = "drawing the cases of an audit"
            self.cost.check(query, lambda one: one.smallest(request), what=what)
            self.load_both(query)
            return draw_rows(self._engine, query, request)

    def span(self) -> tuple[datetime, datetime] | None:
        """Times of the first and the last prediction; None without any.

        Raises
        ------
        InputError
            If a time is missing, cannot be read or is of another age, or too many are more than a
            day ahead.
        """
        with self._engine.snapshot():
            _, first, last, _ = self._extent(self._query(self._labels))
        return None if first is None or last is None else (first, last)

    def set_aside(self) -> tuple[str, ...]:
        """What is left out: rows ahead of now, by the last look at all, and files."""
        relations = (self._predictions.relation, *self._label_relations)
        damaged = [file for relation in relations for file in relation.damaged]
        return (*self._set_aside, *map(waits_for, damaged))

    def describe(self) -> SourceDescription:
        """Look at both tables, at all rows of each.

        Raises
        ------
        InputError
            If there are no predictions, if rows of either table cannot be used, or if a time is of
            another age or ahead.
        """
        query = self._query(self._labels_at_hand.known_by(LATEST))
        about = query.labels.relation.name
        with self._engine.snapshot():
            rows, first, last, _ = self._extent(query)
            if rows == 0:
                msg = (
                    f"{self._predictions.relation.name} has no rows: there is nothing to monitor; "
                    "check its name and the job that writes it"
                )
                raise InputError(msg)
            what = "looking at all rows"
            self.cost.check(query, _all_but_orphans, what=what)
            self._load_predictions(named_columns(self._predictions))
            check_predictions(self._engine, query)
            self._engine.load(query.labels.relation, named_columns(query.labels))
            if not query.labels.is_checked:
                check_labels(self._engine, query)
            limit = self._clock() + CLOCKS_DIFFER
            spans = rows_of_all(self._engine, query, lambda one: one.label_span(limit), about=about)
            known, later = (sum(int(row[place] or 0) for row in spans) for place in (0, 2))
            if later and self._labels.known_at is not None:
                latest = max(row[1] for row in spans if row[2])
                error = ahead("known_at", self._labels.known_at, self._labels, later, latest)
                if later > max(1, MOST_AHEAD * known):
                    raise error
                # They do not count before their time.
                self._set_aside += (str(error),)
            delays = LabelDelays()
            if self._labels.known_at is not None:
                both = f"{self._predictions.relation.name} or {about}"
                delays = LabelDelays.of(
                    rows_of_all(self._engine, query, CountQuery.delays, about=both)
                )
            sample = sample_of(self._engine, self._predictions)
            unmatched = self._unmatched_of_all(query.labels, first, last, delays)
        with self._label_engine.snapshot():
            label_sample = sample_of(self._label_engine, self._labels)
        queues = []
        for (engine, review), queue in zip(self._reviews, self._labels_at_hand.queues, strict=True):
            with engine.snapshot():
                few = sample_of(engine, review.labels)
            queues.append(replace(queue, columns=types_of(review.labels), sample=few))
        return SourceDescription(
            engine=self._engine.dialect.name,
            doubts=(*self._remarks().doubts, *self.set_aside()),
            limits=self._remarks().limits,
            columns=types_of(self._predictions),
            label_columns=types_of(self._labels),
            sample=sample,
            label_sample=label_sample,
            predictions=rows,
            labels=known,
            first=first,
            last=last,
            delay_quantiles=delays.quantiles,
            confirmed=delays.confirmed,
            early=delays.early,
            refused=delays.refused,
            unmatched=unmatched,
            reviews=tuple(queues),
            complaints=self._labels_at_hand.complaints,
        )

    def _unmatched_of_all(
        self,
        labels: LabelTable,
        first: datetime | None,
        last: datetime | None,
        delays: LabelDelays,
    ) -> UnmatchedLabels | None:
        """Labels without prediction of the time in which labels are about these predictions.

        Those known soon after the first one may be about others before it, and those known after
        the last one about some that are still to come.
        """
        if self._orphans == "skip" or first is None or last is None:
            return None
        between = (EARLIEST, LATEST)
        if labels.known_at is not None:
            between = (first + timedelta(seconds=max(delays.quantiles.get(0.9, 0), 0)), last)
        query = self._unmatched_query(labels, between)
        self._load_ids(None)
        number = sum(
            int(row[-1])
            for row in rows_of_all(
                self._engine, query, UnmatchedQuery.orphans, about=labels.relation.name
            )
        )
        if not number:
            return None
        found = self._unmatched(query, number)
        return found if is_reported(found, is_explained=False) else None

    def close(self) -> None:
        """Let go of files and connections."""
        for engine in dict.fromkeys([self._engine, self._label_engine, *self._review_engines]):
            engine.close()

    @property
    def _review_engines(self) -> list[Engine]:
        return [engine for engine, _ in self._reviews]

    def _query(
        self,
        labels: LabelTable,
        *,
        between: tuple[datetime, datetime] = (EARLIEST, LATEST),
        as_of: tuple[datetime, ...] = (LATEST,),
        threshold: float = 0.5,
        delay_edges: tuple[float, ...] = (),
    ) -> CountQuery:
        return CountQuery(
            predictions=self._predictions,
            labels=labels,
            dialect=self._engine.dialect,
            grid=self._grid,
            key=self._key,
            between=between,
            as_of=as_of,
            threshold=threshold,
            delay_edges=delay_edges,
        )

    def _unmatched_query(
        self, labels: LabelTable, between: tuple[datetime, datetime]
    ) -> UnmatchedQuery:
        return UnmatchedQuery(
            predictions=self._predictions,
            labels=labels,
            dialect=self._engine.dialect,
            grid=self._grid,
            key=self._key,
            between=between,
            as_of=(between[1],),
            threshold=0.5,
        )

    def _draw_query(self, predictions: PredictionTable, request: BinRequest) -> DrawQuery:
        between = (request.window.start, request.window.end)
        return DrawQuery(
            predictions=predictions,
            labels=self._labels_at_hand.known_by(max(request.as_of, between[1])),
            dialect=self._engine.dialect,
            grid=self._grid,
            key=self._key,
            between=between,
            as_of=(request.as_of,),
            threshold=request.threshold,
            edges=request.edges,
        )

    def load_both(self, query: CountQuery) -> None:
        """Get the rows of both tables ready that a query is about."""
        self._load_predictions(named_columns(query.predictions), query.between)
        self._engine.load(query.labels.relation, named_columns(query.labels))

    def _load_predictions(
        self, names: Sequence[str], between: tuple[datetime, datetime] | None = None
    ) -> None:
        time = self._predictions.time
        self._engine.load(
            self._predictions.relation,
            names,
            time=time.column.name,
            bounds=None if between is None else time.bounds(*between),
        )

    @property
    def load_ids(self) -> LoadIds | None:
        """What gets ids of predictions ready; None if labels without prediction are not counted."""
        return None if self._orphans == "skip" else self._load_ids

    def _load_ids(self, between: tuple[datetime, datetime] | None) -> None:
        table = self._predictions
        if table.relation.damaged:
            raise DamagedFileError(table.relation.damaged[0].why)
        names = [table.id.name] if between is None else [table.id.name, table.time.column.name]
        if self._engine.dialect.holds_rows:
            # Of the others it is part of the statement that was looked at.
            query = self._query(self._labels, between=between or (EARLIEST, LATEST))
            what = "looking for labels without prediction among the ids of all predictions"
            self.cost.check(query, CountQuery.ids, what=what, names=tuple(names))
        self._load_predictions(names, between)

    def _extent(self, query: CountQuery) -> Extent:
        extent = extent_of(
            self._engine, query, self.cost, load=self._load_predictions, now=self._clock()
        )
        self._set_aside = (extent.set_aside,) if extent.set_aside else ()
        return extent


def _all_but_orphans(query: CountQuery) -> Statement:
    return query.everything(with_orphans=False)
