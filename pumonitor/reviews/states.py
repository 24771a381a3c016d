"""What both channels say of a row at a moment, as one whole number that rows are counted by."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.reviews.counts import KINDS, POSITIVE, kind_of_rows
from pumonitor.reviews.given import (
    BY_CHANCE_AMONG_SILENT,
    BY_COMPLAINT,
    BY_RULE,
    BY_SCORE,
    UNREVIEWED,
)

REASONS: Final = ("score", "random", "audit", "complaint", "rule")
"""Why a row was reviewed; every word that is none of the first four is a rule."""
RULE: Final = REASONS.index("rule")
_READ_AS: Final = (BY_SCORE, BY_SCORE, BY_CHANCE_AMONG_SILENT, BY_COMPLAINT, BY_RULE)
REVIEWERS_DIFFER: Final = -3
"""Undecided, since the verdicts of two reviewers differ."""
PENDING: Final = -4
"""Queued, and without a verdict yet."""
_VERDICTS: Final = (1, 0, -1, REVIEWERS_DIFFER, PENDING)
_VERDICT_WORDS: Final = ("positive", "negative", "undecided", "reviewers differ", "waiting")
STATES: Final = 2 * (1 + len(REASONS) * len(_VERDICTS))
"""How many there are; 0 is that of a row of which nothing is known."""


def states_of(
    *, complained: NDArray[Any], verdict: NDArray[Any], reason: NDArray[Any]
) -> NDArray[np.int64]:
    """The state of each row.

    Parameters
    ----------
    complained : ndarray of shape (n,) of bool
    verdict : ndarray of shape (n,)
        1 positive, 0 negative, -1 undecided, -2 not reviewed, `REVIEWERS_DIFFER` or `PENDING`.
    reason : ndarray of shape (n,)
        Place in `REASONS`; it does not matter where a row was not reviewed.
    """
    # What lies below UNREVIEWED has the indexes after those of -1.
    index = np.where(verdict > UNREVIEWED, 1 - verdict, -verdict)
    review = 1 + len(_VERDICTS) * reason + index
    return np.asarray(complained + 2 * np.where(verdict == UNREVIEWED, 0, review), dtype=np.int64)


def _reviews() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Verdict and reason by half of the state."""
    verdict = [UNREVIEWED, *(_VERDICTS * len(REASONS))]
    reason = [0, *np.repeat(np.arange(len(REASONS)), len(_VERDICTS)).tolist()]
    return np.array(verdict, dtype=np.int64), np.array(reason, dtype=np.int64)


_VERDICT, _REASON = _reviews()
_KNOWN_VERDICT: Final = np.select(
    [_VERDICT == REVIEWERS_DIFFER, _VERDICT == PENDING], [-1, UNREVIEWED], _VERDICT
)
"""What a row is counted as: who waits for a verdict is like one that nobody looked at."""


def kinds_of_states(states: NDArray[np.int64], *, stopped: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Index into `KINDS` of each row; `stopped` says which were declined outright."""
    review = states // 2
    return kind_of_rows(
        verdict=_KNOWN_VERDICT[review].astype(np.int8),
        chosen_by=np.array(_READ_AS, dtype=np.int8)[_REASON[review]],
        complained=states % 2 == 1,
        stopped=stopped,
    )


def are_ranked(states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row was queued for its score, whether it has a verdict yet or not."""
    review = states // 2
    return np.asarray((review > 0) & (_REASON[review] == REASONS.index("score")))


def is_unseen(states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row has no verdict: nobody looked, or it is waiting, or nobody could tell."""
    return np.asarray(_KNOWN_VERDICT[states // 2] < 0)


def said_of_states(
    states: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any]]:
    """Which rows complained, with verdicts and reasons as `pumonitor.Reviews` takes them."""
    review = states // 2
    words = {UNREVIEWED: None, -1: "undecided"}
    verdicts = np.array([words.get(known, known) for known in _KNOWN_VERDICT.tolist()], object)
    reasons = np.array(["", *np.repeat(REASONS, len(_VERDICTS))], dtype=object)
    return states % 2 == 1, verdicts[review], reasons[review]


def are_drawn(states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row was drawn at random, with a verdict or without."""
    review = states // 2
    return np.asarray((review > 0) & (_REASON[review] == REASONS.index("random")))


def _positive() -> tuple[int, ...]:
    states = np.arange(STATES)
    kinds = kinds_of_states(states, stopped=np.zeros(STATES, dtype=bool))
    return tuple(int(state) for state in states if KINDS[kinds[state]] in POSITIVE)


POSITIVE_STATES: Final = _positive()
"""States of rows that are known to be positive."""
DIFFERING_STATES: Final = tuple(
    int(state) for state in range(2, STATES) if _VERDICT[state // 2] == REVIEWERS_DIFFER
)
"""States of cases on which two reviewers differ."""


def described_states(states: NDArray[np.int64], rows: NDArray[np.int64]) -> dict[str, list[int]]:
    """Rows without and with a complaint, by reason and verdict; "not reviewed" where there is none.

    Parameters
    ----------
    states, rows : ndarray of shape (groups,)
        The state of each group and its number of rows.

    Examples
    --------
    >>> described_states(np.array([0, 1, 2]), np.array([90, 6, 4]))
    {'not reviewed': [90, 6], 'score, positive': [4, 0]}
    """
    counted = np.bincount(states, weights=rows, minlength=STATES).astype(np.int64).reshape(-1, 2)
    names = ["not reviewed"] + [
        f"{reason}, {verdict}" for reason in REASONS for verdict in _VERDICT_WORDS
    ]
    return {name: both.tolist() for name, both in zip(names, counted, strict=True) if both.any()}
