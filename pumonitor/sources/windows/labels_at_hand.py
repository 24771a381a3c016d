"""Labels where the predictions are: those of another place travel, once for all windows."""

# ruff: noqa: S608 (names and hashes in SQL are our own)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from pumonitor.ports import QueueDescription
from pumonitor.sources.column_types.time_columns import LATEST
from pumonitor.sources.windows.both_channels import (
    BOTH_CHANNELS,
    ReviewTable,
    described_queue,
    labels_of_both,
    verdicts_by_reviewer,
    with_queued,
)
from pumonitor.sources.windows.counts_engine import LASTING, Engine, received
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.counts_rows import LabelTable
from pumonitor.sources.windows.described import named_columns
from pumonitor.sources.windows.different_ids import all_distinct
from pumonitor.sources.windows.labels_in_arrow import (
    arrow_column,
    as_received,
    labels_in_arrow,
)
from pumonitor.sources.windows.refusing import check_labels
from pumonitor.sources.windows.reviewer_agreement import ReviewerVerdicts

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_HELD: Final = 2_000_000
"""Of labels, as they are read once and looked at for every window: some 100 MB."""
_HELD: Final = f"{LASTING}_labels"


class LabelsAtHand:
    """The labels, read once for all windows as long as their tables stay open.

    A table is read once, a query that takes a moment anew for every moment.

    Parameters
    ----------
    engine, label_engine : Engine
        Of predictions and of labels; they may be one.
    labels : LabelTable
    query : CountQuery
        Any query about both tables.
    reviews : sequence of (Engine, ReviewTable)
        Of queues; labels are complaints then, and what is at hand is what both say together.

    Attributes
    ----------
    queues : tuple of QueueDescription
        What the reviews were that have been read, by queue.
    complaints : int
        Rows of complaints that were read beside them.
    reviewers : ReviewerVerdicts
        Who gave which verdict.
    """

    def __init__(
        self,
        engine: Engine,
        label_engine: Engine,
        labels: LabelTable,
        query: CountQuery,
        *,
        reviews: Sequence[tuple[Engine, ReviewTable]] = (),
    ) -> None:
        self.queues: tuple[QueueDescription, ...] = ()
        self.complaints = 0
        self.reviewers = ReviewerVerdicts.none()
        self._reviews = reviews
        self._engine = engine
        self._label_engine = label_engine
        self._labels = labels
        self._query = replace(query, labels=labels, as_of=(LATEST,))
        self._received: tuple[datetime, LabelTable] | None = None

    @property
    def depend_on_moments(self) -> bool:
        """Whether which labels there are depends on the moment that is asked about."""
        return any("as_of" in table.relation.parameters for table in self._tables)

    @property
    def _tables(self) -> list[LabelTable]:
        return [self._labels, *(review.labels for _, review in self._reviews)]

    def known_by(self, moment: datetime) -> LabelTable:
        """The labels where the predictions are."""
        if self._label_engine is self._engine and not self._reviews:
            return self._held() if self._engine.dialect.holds_rows else self._labels
        # A query sees the moment and may answer it in its own way; a table is read once, whole.
        wanted = moment if self.depend_on_moments else LATEST
        if self._received is None or self._received[0] != wanted:
            self._received = (wanted, self._fetched(wanted))
        return self._received[1]

    def _held(self) -> LabelTable:
        """The labels in a table of the engine's own, if they are few enough and all can be used.

        Else they are read for each window: what is wrong is told only once it was known.
        """
        if self._received is None:
            engine, labels, about = self._engine, self._labels, self._labels.relation.name
            self._received = (LATEST, labels)
            with engine.snapshot():
                engine.load(labels.relation, named_columns(labels))
                counted = engine.rows(self._query.label_problems(), about=about)
                numbers = {int(problem): int(rows) for problem, rows in counted}
                if any(numbers) or numbers.get(0, 0) > _ROWS_HELD:
                    return labels
                said = self._query.labels_as_said()
                if engine.keep(_HELD, said, about=about):
                    kind = received(labels.relation.name, _HELD, self._query.key, engine.dialect)
                    hashed = (engine.dialect.hashed_id or "{}").format("id")
                    ids = engine.columns(
                        Statement(sql=f"SELECT {hashed} AS hashed FROM {_HELD}"), about=about
                    )
                    self._received = (
                        LATEST,
                        replace(
                            as_received(labels, kind), has_each_once=all_distinct(ids["hashed"])
                        ),
                    )
        return self._received[1]

    def _fetched(self, moment: datetime) -> LabelTable:
        labels = self._labels
        fetched = self._read(self._label_engine, labels, moment)
        if self._reviews:
            reviews = [
                (review, self._reviewed(engine, review, moment)) for engine, review in self._reviews
            ]
            self.complaints = len(fetched)
            fetched = labels_of_both(fetched, reviews)
            self.queues = tuple(described_queue(review, table) for review, table in reviews)
            self.reviewers = verdicts_by_reviewer(reviews)
            labels = replace(labels, states=BOTH_CHANNELS)
        relation = self._engine.receive(fetched, name=labels.relation.name, key=self._query.key)
        has_chances = any(review.has_chances for _, review in self._reviews)
        return as_received(labels, relation, has_chances=has_chances)

    def _reviewed(self, engine: Engine, review: ReviewTable, moment: datetime) -> pa.Table:
        """Verdicts, and the cases that were queued for one."""
        verdicts = self._read(engine, review.labels, moment)
        if review.queued is None:
            return verdicts
        return with_queued(verdicts, self._read(engine, review.queued, moment))

    def _read(self, engine: Engine, table: LabelTable, moment: datetime) -> pa.Table:
        """All rows of a table that are known by a moment, with its details."""
        import pyarrow as pa

        query = replace(self._query, labels=table, as_of=(moment,), dialect=engine.dialect)
        with engine.snapshot():
            engine.load(table.relation, named_columns(table))
            check_labels(engine, query)
            answer = engine.columns(query.labels_as_said(), about=table.relation.name)
        fetched = labels_in_arrow(answer, key=self._query.key)
        for place in range(len(table.details)):
            name = f"detail_{place}"
            fetched = fetched.append_column(name, arrow_column(answer[name], pa.string()))
        return fetched
