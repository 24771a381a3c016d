"""Several windows of one source, as many at once as it bears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, Protocol

from pumonitor.errors import DamagedFileError, PumonitorError
from pumonitor.ports import CountRequest, WindowCounts
from pumonitor.sources.windows.asking import LoadIds, TooMuchError, count_orphans
from pumonitor.sources.windows.cost import BeyondLimitError, Stopwatch
from pumonitor.sources.windows.counting import CountAloneError, count_window, count_windows
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import CountQuery
from pumonitor.sources.windows.counts_rows import PredictionTable
from pumonitor.sources.windows.labels_at_hand import LabelsAtHand

_MOST_WINDOWS: Final = 64
"""That are counted by one statement: their answers are held together."""


class Counting(Protocol):
    """What counts one window, and what a query about several is made by."""

    def counts(self, request: CountRequest) -> WindowCounts:
        """Counts of one window."""

    def query_of(self, requests: Sequence[CountRequest]) -> CountQuery:
        """The query about windows that are alike but for time."""

    def load_both(self, query: CountQuery) -> None:
        """Get the rows ready that a query is about."""

    @property
    def load_ids(self) -> LoadIds | None:
        """What gets ids of predictions ready, if they are asked for."""

    def check_cost(self, query: CountQuery) -> None:
        """Refuse to count windows where that would read more than is allowed."""

    def versioned(
        self, counts: WindowCounts, watch: Stopwatch, request: CountRequest, *, windows: int = 1
    ) -> WindowCounts:
        """Counts with what was read and what it took."""

    def with_unmatched(self, counts: WindowCounts, request: CountRequest) -> WindowCounts:
        """Counts with what is to be reported of labels without prediction."""


class Together:
    """Counts several windows by one query where that gives what each alone would.

    A query that takes a stretch of time or a moment may answer another one in another way: such
    windows are counted one by one. So are those with rows whose time cannot be read, or with labels
    that cannot be used, since each has to say so. Where rows or groups are too many, fewer
    windows are counted at once, and the number that was borne is kept.
    """

    def __init__(
        self,
        source: Counting,
        engine: Engine,
        predictions: PredictionTable,
        labels: LabelsAtHand,
    ) -> None:
        self._source = source
        self._engine = engine
        self._predictions = predictions
        self._labels = labels
        self._bearable: int | None = None

    def counted(self, requests: Sequence[CountRequest]) -> Iterator[WindowCounts | Exception]:
        """Counts in the order of requests; in place of those of a window, why there are none."""
        waiting = list(requests)
        while waiting:
            batch = _alike(waiting[: self._most])
            del waiting[: len(batch)]
            yield from self._of(batch)

    @property
    def _most(self) -> int:
        if self._predictions.relation.parameters or self._labels.depend_on_moments:
            return 1
        return _MOST_WINDOWS if self._predictions.relation.is_streamed else 1

    def _of(self, batch: Sequence[CountRequest]) -> Iterator[WindowCounts | Exception]:
        if len(batch) == 1:
            yield self._alone(batch[0])
            return
        try:
            orphans = self._orphans(batch)
        except PumonitorError:
            yield from map(self._alone, batch)
            return
        place = 0
        while place < len(batch):
            part = batch[place : place + (self._bearable or len(batch))]
            own = None if orphans is None else orphans[place : place + len(part)]
            try:
                yield from self._at_once(part, own)
            except TooMuchError:
                # Every attempt reads as many rows as are borne: a few will do.
                self._bearable = max(1, len(part) // 4)
                continue
            except (CountAloneError, PumonitorError):
                yield from map(self._alone, part)
            place += len(part)

    def _at_once(
        self, part: Sequence[CountRequest], orphans: Sequence[int | None] | None
    ) -> list[WindowCounts | Exception]:
        load_ids = self._source.load_ids if orphans is None else None
        watch, query = Stopwatch(), self._source.query_of(part)
        with self._engine.snapshot():
            self._check_cost(query, windows=len(part))
            self._source.load_both(query)
            if len(part) == 1:
                counted: Sequence[WindowCounts | Exception] = [
                    count_window(self._engine, query, load_ids=load_ids)
                ]
            else:
                counted = count_windows(self._engine, query, load_ids=load_ids)
        finished = [
            one
            if isinstance(one, Exception)
            else self._source.versioned(
                _with(one, orphans, place), watch, part[place], windows=len(part)
            )
            for place, one in enumerate(counted)
        ]
        # The newest tells what is wrong now, and what it says of ids holds for those before.
        newest = finished[-1]
        if not isinstance(newest, Exception):
            finished[-1] = self._source.with_unmatched(newest, part[-1])
        return finished

    def _check_cost(self, query: CountQuery, *, windows: int) -> None:
        """Of several windows fewer may do."""
        try:
            self._source.check_cost(query)
        except BeyondLimitError:
            if windows > 1:
                raise TooMuchError from None
            raise

    def _orphans(self, batch: Sequence[CountRequest]) -> list[int | None] | None:
        """Labels without prediction of each window; None where the statement about all asks it.

        None of each where a damaged file may have their predictions. To find them the ids of all
        predictions are read: once for all windows.
        """
        load_ids = self._source.load_ids
        if load_ids is None or not self._engine.dialect.holds_rows:
            return None
        query = self._source.query_of(batch)
        with self._engine.snapshot():
            self._source.load_both(query)
            try:
                found = count_orphans(self._engine, query, load_ids)
            except DamagedFileError:
                return [None] * len(batch)
        return [found.get(place, found.get(-1, 0)) for place in range(len(batch))]

    def _alone(self, request: CountRequest) -> WindowCounts | Exception:
        try:
            return self._source.counts(request)
        except PumonitorError as error:
            return error


def _with(counts: WindowCounts, orphans: Sequence[int | None] | None, place: int) -> WindowCounts:
    if orphans is None:
        return counts
    return replace(counts, found=replace(counts.found, orphan_labels=orphans[place]))


def _alike(requests: Sequence[CountRequest]) -> list[CountRequest]:
    """The first of them that one query can be about: in order, without overlap, alike otherwise."""
    found = [requests[0]]
    for before, request in pairwise(requests):
        is_alike = (request.threshold, request.delay_edges) == (
            before.threshold,
            before.delay_edges,
        )
        if not is_alike or request.window.start < before.window.end:
            break
        found.append(request)
    return found
