"""What is known of the rows of each score bin: verdicts, complaints, and rows nobody can know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.bins import ScoreBins
from pumonitor.errors import InputError

__all__ = ["KINDS", "NEGATIVE", "POSITIVE", "ReviewCounts", "kind_of_rows"]

IntArray = NDArray[np.int64]

KINDS: Final = (
    "open_complained",
    "open_silent",
    "positive_complained",
    "positive_silent",
    "cleared_complained",
    "cleared_silent",
    "undecided_complained",
    "undecided_silent",
    "drawn_positive",
    "drawn_negative",
    "known_positive",
    "known_negative",
    "stopped",
)
"""Of rows, each of which is of one: the columns of `ReviewCounts`, in this order."""

POSITIVE: Final = (
    "open_complained",
    "positive_complained",
    "positive_silent",
    "cleared_complained",
    "undecided_complained",
    "drawn_positive",
    "known_positive",
)
"""Kinds that are known to be positive. Who complains after being cleared was cleared by mistake."""

NEGATIVE: Final = ("cleared_silent", "drawn_negative", "known_negative")
"""Kinds that are called negative. Reviewers who miss positives cleared some of them by mistake."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewCounts:
    """Rows of each score bin by what reviews and complaints say of them.

    Attributes
    ----------
    bins : ScoreBins
        Their rows are those of all kinds; `labeled` are those that are known to be positive.
    open_complained, open_silent : ndarray of shape (bins,)
        Rows without a review.
    positive_complained, positive_silent : ndarray of shape (bins,)
        Reviewed by score or by chance, and positive. Where such a verdict blocks the case nothing
        follows from its silence.
    cleared_complained, cleared_silent : ndarray of shape (bins,)
        Reviewed so, and negative.
    undecided_complained, undecided_silent : ndarray of shape (bins,)
        Reviewed so, without a verdict.
    drawn_positive, drawn_negative : ndarray of shape (bins,)
        Reviewed by chance among rows that had stayed silent.
    known_positive, known_negative : ndarray of shape (bins,)
        Reviewed by a rule, or cleared of a complaint: what they are is known, and they tell nothing
        of others.
    stopped : ndarray of shape (bins,)
        Stopped without a verdict: they can never complain.
    blocks : bool
        Whether a positive verdict blocks the case.
    odds : ndarray of shape (5, bins), optional
        Of rows drawn with unequal chances, which are known: those of `unequal_chances`.

    Raises
    ------
    InputError
        If rows are counted below 0, or those of all kinds are not those of the bins.
    """

    bins: ScoreBins
    open_complained: IntArray
    open_silent: IntArray
    positive_complained: IntArray
    positive_silent: IntArray
    cleared_complained: IntArray
    cleared_silent: IntArray
    undecided_complained: IntArray
    undecided_silent: IntArray
    drawn_positive: IntArray
    drawn_negative: IntArray
    known_positive: IntArray
    known_negative: IntArray
    stopped: IntArray
    blocks: bool
    odds: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        table = self.table
        if np.any(table < 0):
            kind, at = np.argwhere(table < 0)[0]
            msg = f"rows are counted, got {table[kind, at]} of kind {KINDS[kind]} in bin {at}"
            raise InputError(msg)
        if np.any(table.sum(axis=0) != self.bins.rows):
            at = int(np.argmax(table.sum(axis=0) != self.bins.rows))
            msg = (
                f"rows of all kinds must be those of the bin: {table[:, at].sum()} of "
                f"{self.bins.rows[at]} in bin {at}"
            )
            raise InputError(msg)

    @classmethod
    def of_table(
        cls,
        bins: ScoreBins,
        table: IntArray,
        *,
        blocks: bool,
        odds: NDArray[np.float64] | None = None,
    ) -> ReviewCounts:
        """From rows of each kind, in the order of `KINDS`, shape (kinds, bins)."""
        return cls(bins=bins, blocks=blocks, odds=odds, **dict(zip(KINDS, table, strict=True)))

    @property
    def table(self) -> IntArray:
        """Rows by kind and bin, shape (kinds, bins)."""
        return np.stack([getattr(self, kind) for kind in KINDS])

    def totals(self) -> dict[str, int]:
        """Rows by kind."""
        return {kind: int(getattr(self, kind).sum()) for kind in KINDS}

    @property
    def reviewed(self) -> IntArray:
        """Rows with a verdict that was asked for by score or by chance."""
        return np.asarray(
            self.positive_complained
            + self.positive_silent
            + self.cleared_complained
            + self.cleared_silent
            + self.drawn_positive
            + self.drawn_negative
        )

    @property
    def undecided(self) -> IntArray:
        """Rows that were reviewed without a verdict."""
        return np.asarray(self.undecided_complained + self.undecided_silent)

    @property
    def in_queue(self) -> NDArray[np.bool_]:
        """Bins of the queue: not those of which a few rows were reviewed by chance."""
        return np.asarray(2 * self.reviewed > self.bins.rows)

    @property
    def lowest_in_queue(self) -> int:
        """The lowest bin of the queue; the highest of all where there is none.

        Not the lowest one with a verdict: that is often the lowest of all where a few rows are
        reviewed by chance, and the level that is believed at the cut is far too high there.
        """
        in_queue = self.in_queue
        return int(np.argmax(in_queue)) if in_queue.any() else len(in_queue) - 1

    @property
    def errs(self) -> bool:
        """Whether a cleared case complained: reviewers then miss positives."""
        return bool(self.cleared_complained.any())


def kind_of_rows(
    *,
    verdict: NDArray[np.int8],
    chosen_by: NDArray[np.int8],
    complained: NDArray[np.bool_],
    stopped: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Index into `KINDS` of each row.

    Parameters
    ----------
    verdict : ndarray of shape (n,)
        1, 0, -1 undecided, -2 not reviewed.
    chosen_by : ndarray of shape (n,)
        0 by score or chance, 1 by chance among silent rows, 2 by a rule, 3 after a complaint.
    complained, stopped : ndarray of shape (n,)

    Notes
    -----
    A row that was reviewed because of its complaint, and is positive, complained as any row without
    a review does: were it set aside, the rows left open would hold too few complaints.
    """
    kind = np.where(complained, KINDS.index("open_complained"), KINDS.index("open_silent"))
    by_score = chosen_by == 0
    for name, value in (("positive", 1), ("cleared", 0), ("undecided", -1)):
        first = KINDS.index(f"{name}_complained")
        kind[by_score & (verdict == value)] = first
        kind[by_score & (verdict == value) & ~complained] = first + 1
    for name, reasons in (("drawn", chosen_by == 1), ("known", chosen_by >= 2)):
        kind[reasons & (verdict == 1)] = KINDS.index(f"{name}_positive")
        kind[reasons & (verdict == 0)] = KINDS.index(f"{name}_negative")
    kind[(chosen_by == 2) & (verdict == 0) & complained] = KINDS.index("known_positive")
    kind[(chosen_by == 3) & (verdict == 1)] = KINDS.index("open_complained")
    # Without a verdict nothing is known of what was stopped, but that a complaint names a positive.
    unseen = stopped & (verdict < 0)
    kind[unseen] = KINDS.index("stopped")
    kind[unseen & complained] = KINDS.index("known_positive")
    return kind
