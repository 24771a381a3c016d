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
        case, reviewer, known, verdict = (
            column[order] for column in (case, reviewer, known, verdict)
        )
        pairs = case * max(len(names), 1) + reviewer
        is_first = np.diff(pairs, prepend=-1) != 0
        people = np.bincount(case[is_first], minlength=int(case.max(initial=-1)) + 1)
        by_time = np.argsort(known[is_first], kind="stable")
        self._first_known = known[is_first][by_time]
        self._first_reviewer = reviewer[is_first][by_time]
        # Without times of their own verdicts are known from 0 on, and count at every moment.
        self._is_timeless = not known.any()
        # Of most cases there is one reviewer, with whom nobody can agree.
        is_shared = people[case] > 1
        self._case = np.unique(case[is_shared], return_inverse=True)[1]
        self._reviewer = reviewer[is_shared]
        self._known, self._verdict = known[is_shared], verdict[is_shared]

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
        begin, end = microseconds(since), microseconds(until)
        if self._is_timeless:
            begin = end = 0
        first = np.searchsorted(self._first_known, begin, side="left")
        last = np.searchsorted(self._first_known, end, side="right")
        cases = np.bincount(self._first_reviewer[first:last], minlength=len(self._names))
        chosen = np.flatnonzero((self._known >= begin) & (self._known <= end))
        case, reviewer = self._case[chosen], self._reviewer[chosen]
        is_last = np.ones(len(chosen), dtype=bool)
        is_last[:-1] = (case[1:] != case[:-1]) | (reviewer[1:] != reviewer[:-1])
        case, reviewer = case[is_last], reviewer[is_last]
        verdict = self._verdict[chosen][is_last]
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
