"""What reviews say of a series of a window: rows by kind and cell, and what follows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from pumonitor._reviewed import ReviewedRows
from pumonitor._score_grid import ScoreGrid
from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.ports import SampledRows, WindowCounts
from pumonitor.reviews.bins import cuts_of_scores, lowest_of_stopped
from pumonitor.reviews.counts import KINDS
from pumonitor.reviews.earlier import EarlierWindows
from pumonitor.reviews.given import detection_interval
from pumonitor.reviews.of_table import read_table
from pumonitor.reviews.queue_cells import count_by_queue
from pumonitor.reviews.reading import ReviewedEstimates
from pumonitor.reviews.states import (
    are_drawn,
    are_ranked,
    described_states,
    is_unseen,
    kinds_of_states,
)
from pumonitor.reviews.unequal_chances import as_known, differ, sums_of_odds
from pumonitor.sources.windows.both_channels import BOTH_CHANNELS
from pumonitor.sources.windows.counts_rows import QUEUE_COARSER
from pumonitor.tables import ScoreTable

__all__ = ["HowReviewed"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LEAST_REVIEWED: Final = 0.5
"""Of the rows from the lowest verdict on, where nothing says why rows were reviewed."""
_LEFT: Final = [KINDS.index(kind) for kind in ("open_complained", "open_silent")]


_TOLD_APART: Final = {"differing_verdicts": ", reviewers differ", "waiting_cases": ", waiting"}
_FOUND: Final = [KINDS.index(kind) for kind in ("positive_complained", "positive_silent")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupKinds:
    """What is known of groups of rows at a moment.

    Attributes
    ----------
    kinds : ndarray of shape (groups,)
        Index into `KINDS`.
    ranked, stopped : ndarray of shape (groups,) of bool
        Taken by a queue for their score; declined outright.
    probability : ndarray of shape (groups,)
        With which rows that have a verdict were drawn at random; NaN of others, and where no table
        says it.
    queue_cell : ndarray of shape (groups,) of str, or None
        Where another score filled the queue, its cell; "" where that score cannot be used.
    """

    kinds: NDArray[np.intp]
    ranked: NDArray[np.bool_]
    stopped: NDArray[np.bool_]
    probability: FloatArray
    queue_cell: NDArray[np.str_] | None = None

    @property
    def known_kinds(self) -> NDArray[np.intp]:
        """Kinds where rows that were drawn with unequal chances are known."""
        return as_known(self.kinds, self.probability) if differ(self.probability) else self.kinds

    def of(self, groups: NDArray[np.intp]) -> GroupKinds:
        """Of some of the groups."""
        return GroupKinds(
            kinds=self.kinds[groups],
            ranked=self.ranked[groups],
            stopped=self.stopped[groups],
            probability=self.probability[groups],
            queue_cell=None if self.queue_cell is None else self.queue_cell[groups],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HowReviewed:
    """How a monitor's predictions were reviewed.

    Attributes
    ----------
    segments : tuple of str
        Columns whose values are series of their own.
    action : str or None
        Column of what was done with a row.
    stopped : tuple of str
        Its words for rows that were declined outright.
    is_reason_given : bool
        Whether a column says why each row was reviewed.
    blocks : bool
        Whether a positive verdict blocks the case.
    detection_rate, complaint_rate : (float, float), optional
    ranked_by : str or None
        Column of the score that filled the queue, where it is another than the model's.
    score_scale : "probability" or "unbounded"
        Of both scores.
    """

    blocks: bool
    segments: tuple[str, ...] = ()
    action: str | None = None
    stopped: tuple[str, ...] = ()
    is_reason_given: bool = False
    detection_rate: tuple[float, float] | None = None
    complaint_rate: tuple[float, float] | None = None
    ranked_by: str | None = None
    score_scale: Literal["probability", "unbounded"] = "probability"

    @classmethod
    def of(cls, monitor: Monitor) -> Self | None:
        """As its configuration says; None without reviews."""
        if not monitor.reviews:
            return None
        first, action = monitor.reviews[0], monitor.predictions.action
        return cls(
            blocks=first.blocks,
            segments=monitor.predictions.segments,
            action=None if action is None else action.column,
            stopped=() if action is None else action.stopped,
            is_reason_given=all(queue.chosen_by is not None for queue in monitor.reviews),
            detection_rate=detection_interval(
                1 if first.detection_rate == (1, 1) else first.detection_rate
            ),
            complaint_rate=monitor.complaint_rate,
            ranked_by=first.ranked_by,
            score_scale=monitor.score_scale,
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """As `to_json` wrote it."""
        return TypeAdapter(cls).validate_python(dict(stored))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain: dict[str, Any] = TypeAdapter(HowReviewed).dump_python(self, mode="json")
        return plain

    def kinds(self, counts: WindowCounts | SampledRows, moment: int) -> GroupKinds:
        """What is known of each group of rows, or of each row, at a moment."""
        states, segments = BOTH_CHANNELS.of_histories(counts.history, moment), counts.segments
        stopped = np.zeros(len(states), dtype=bool)
        if self.action is not None:
            stopped = np.isin(segments[self.action], self.stopped)
        return GroupKinds(
            kinds=kinds_of_states(states, stopped=stopped),
            ranked=are_ranked(states),
            stopped=stopped,
            probability=np.where(are_drawn(states), counts.propensity, np.nan),
            queue_cell=None if self.ranked_by is None else segments[self.ranked_by],
        )

    def label_counts(self, counts: WindowCounts, moment: int) -> dict[str, Any]:
        """What came to be known of the rows of a window, and through which door, as plain JSON.

        Parameters
        ----------
        counts : WindowCounts
        moment : int
            Which of its moments.

        Returns
        -------
        dict
            "labels": "rows", those without and with a complaint by reason and verdict, "not
            reviewed" and "stopped" (declined outright, without a verdict); "reviewers", as of
            `WindowCounts`. "differing_verdicts" and "waiting_cases": cases that reviewers differ
            on, and that were queued without a verdict.
        """
        states = BOTH_CHANNELS.of_histories(counts.history, moment)
        groups = self.kinds(counts, moment)
        unseen = groups.stopped & is_unseen(states)
        rows = described_states(states[~unseen], counts.rows[~unseen])
        if unseen.any():
            came = states[unseen] % 2 == 1
            of_them = counts.rows[unseen]
            rows["stopped"] = [int(of_them[~came].sum()), int(of_them[came].sum())]
        reviewers = counts.reviewers[moment] if counts.reviewers else ()
        return {
            "labels": {"rows": rows, "reviewers": [asdict(reviewer) for reviewer in reviewers]},
            **{
                name: sum(sum(both) for key, both in rows.items() if key.endswith(verdict))
                for name, verdict in _TOLD_APART.items()
            },
        }

    def rows_of(
        self,
        groups: GroupKinds,
        *,
        lower: FloatArray,
        upper: FloatArray,
        number: IntArray,
        cell: NDArray[np.intp],
        cell_lower: FloatArray,
        rules: tuple[str, ...],
        is_mature: bool,
    ) -> ReviewedRows:
        """Rows by kind and cell, with the scores at which the queue begins.

        Parameters
        ----------
        groups : GroupKinds
        lower, upper, number, cell : ndarray of shape (groups,)
            Least and largest score of a group, its rows and its cell.
        cell_lower : ndarray of shape (cells,)
        rules : tuple of str
        is_mature : bool
            Whether all reviews have had their time.

        Raises
        ------
        InputError
            If nothing says why rows were reviewed, and many from the lowest verdict on were not; if
            positive verdicts do not block, and rows with one are stopped; or if the score that
            filled the queue is missing somewhere.
        """
        kinds, ranked = groups.kinds, groups.ranked
        if not self.blocks:
            _refuse_stopped_positives(number, groups)
        # Who waits for a verdict was taken as well, though nothing is known of it yet.
        left = np.isin(kinds, _LEFT) & ~ranked
        if groups.queue_cell is not None:
            lower = upper = self._queue_scores(groups.queue_cell, number)
        cuts = cuts_of_scores(lower[ranked], upper[left], all_scores=lower)
        if cuts and is_mature and not self.is_reason_given:
            _check_share(number, ranked=ranked, left=left & (upper >= cuts[0]))
        is_unequal = differ(groups.probability)
        if is_unequal:
            kinds = as_known(kinds, groups.probability)
        if groups.queue_cell is not None:
            return count_by_queue(
                kinds=kinds,
                left=left,
                probability=groups.probability if is_unequal else None,
                ranked=ranked,
                number=number,
                cell=cell,
                cells=len(cell_lower),
                queue_lower=lower,
                rules=rules,
            )
        odds = None
        if is_unequal:
            odds = sums_of_odds(
                kinds, groups.probability, rows=number, index=cell, size=len(cell_lower)
            )
        stopped = kinds == KINDS.index("stopped")
        edges = lowest_of_stopped(lower[stopped], upper[~stopped])
        size = len(cell_lower)
        counted = np.bincount(kinds * size + cell, weights=number, minlength=size * len(KINDS))

        def begin(scores: tuple[float, ...]) -> tuple[float, ...]:
            """Where the cells of these scores begin: of a cell all rows are in one bin."""
            cells = np.searchsorted(cell_lower, scores, side="right") - 1
            return tuple(np.unique(cell_lower[np.maximum(cells, 0)]).tolist())

        return ReviewedRows(
            kinds=counted.reshape(len(KINDS), size).astype(np.float64),
            odds=odds,
            cuts=begin(cuts),
            edges=begin(edges),
            rules=rules,
        )

    def _queue_scores(self, queue_cell: NDArray[np.str_], number: IntArray) -> FloatArray:
        """Where the cells of the score that filled the queue begin."""
        unusable = queue_cell == ""
        if unusable.any():
            within = " within [0, 1]" if self.score_scale == "probability" else ""
            msg = (
                f"column {self.ranked_by!r}, the score that filled the queue (ranked_by in "
                f"reviews), is no finite number{within} in {int(number[unusable].sum())} of "
                f"{int(number.sum())} rows: give it for every row"
            )
            if within:
                msg += ", or write score_scale: unbounded if it may be outside"
            raise InputError(msg)
        grid = ScoreGrid(scale=self.score_scale, coarser=QUEUE_COARSER)
        return grid.lowest(queue_cell.astype(np.int64))

    def read(
        self,
        table: ScoreTable,
        *,
        threshold: float,
        is_early: bool = False,
        earlier: EarlierWindows | None = None,
    ) -> ReviewedEstimates:
        """What reviews and complaints say of a table's rows; early, complaints are to come."""
        return read_table(
            table,
            threshold=threshold,
            blocks=self.blocks,
            detection_rate=self.detection_rate,
            complaint_rate=self.complaint_rate,
            is_early=is_early,
            earlier=earlier,
        )


def _refuse_stopped_positives(number: IntArray, groups: GroupKinds) -> None:
    """Their silence would be read as that of a positive that could have complained."""
    both = int(number[groups.stopped & np.isin(groups.kinds, _FOUND)].sum())
    if both:
        msg = (
            f"{both} rows with a positive verdict are stopped, by action in predictions, and "
            "reviews say blocks: false; say blocks: true, by which nothing follows from the "
            "silence of a row with a positive verdict"
        )
        raise InputError(msg)


def _check_share(number: IntArray, *, ranked: NDArray[np.bool_], left: NDArray[np.bool_]) -> None:
    reviewed, passed_over = int(number[ranked].sum()), int(number[left].sum())
    if reviewed < _LEAST_REVIEWED * (reviewed + passed_over):
        msg = (
            f"{reviewed} rows were reviewed, and {passed_over} that score no lower than the lowest "
            "of them were not, so the queue did not take the highest scores alone: name the column "
            "that says why each was reviewed, chosen_by in reviews, with the words score, random, "
            "audit, complaint or names of rules; the column of the score that filled the queue, "
            "ranked_by in reviews, if that was another; or the column of what was done with each "
            "row, action in predictions, if they were declined outright"
        )
        raise InputError(msg)
