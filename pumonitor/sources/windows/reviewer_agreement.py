"""How often reviewers of the same case say the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Self

import numpy as np

from pumonitor._arrays import IntArray
from pumonitor.ports import ReviewerCounts
from pumonitor.sources.column_types.time_columns import microseconds

__all__ = ["ReviewerVerdicts"]


_MOST_REVIEWERS: Final = 20


class ReviewerVerdicts:
    """Verdicts by reviewer, of which those of some stretch of time are asked for.

    Parameters
    ----------
    names : sequence of str
        Of reviewers.
    case, reviewer, known, verdict : ndarray of shape (rows,)
        Number of the case, place among `names`, microseconds since 1970, and 1, -1 or 0 for
        undecided.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        case: IntArray,
        reviewer: IntArray,
        known: IntArray,
        verdict: IntArray,
    ) -> None:
        self._names = names
        order = np.lexsort((verdict, known, reviewer, case))
        self._case, self._reviewer = case[order], reviewer[order]
        self._known, self._verdict = known[order], verdict[order]

    @classmethod
    def none(cls) -> Self:
        """Of queues that name no reviewers."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls((), case=nothing, reviewer=nothing, known=nothing, verdict=nothing)

    def between(self, since: datetime, until: datetime) -> tuple[ReviewerCounts, ...]:
        """Reviewers by what they said in a stretch of time, those who share most cases first.

        The latest verdict of each reviewer on a case counts, and two differ where one says
        positive and the other negative. At most 20 are told.
        """
        inside = (self._known >= microseconds(since)) & (self._known <= microseconds(until))
        # Without times of their own verdicts count at every moment.
        chosen = np.flatnonzero(inside | (self._known == 0))
        case, reviewer = self._case[chosen], self._reviewer[chosen]
        is_last = np.ones(len(chosen), dtype=bool)
        is_last[:-1] = (case[1:] != case[:-1]) | (reviewer[1:] != reviewer[:-1])
        case, reviewer = case[is_last], reviewer[is_last]
        verdict = self._verdict[chosen][is_last]
        cases = np.bincount(reviewer, minlength=len(self._names))
        decided = verdict != 0
        positive, negative = (
            np.bincount(case[verdict == value], minlength=int(case.max(initial=-1)) + 1)
            for value in (1, -1)
        )
        others = positive[case] + negative[case] - decided
        differing = np.where(verdict == 1, negative[case], positive[case])
        is_shared = decided & (others > 0)
        shared = np.bincount(reviewer[is_shared], minlength=len(self._names))
        differ = np.bincount(reviewer[is_shared & (differing > 0)], minlength=len(self._names))
        order = sorted(range(len(self._names)), key=lambda at: (-shared[at], -cases[at], at))
        return tuple(
            ReviewerCounts(
                name=self._names[at],
                cases=int(cases[at]),
                shared=int(shared[at]),
                differ=int(differ[at]),
            )
            for at in order[:_MOST_REVIEWERS]
            if cases[at]
        )
