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

__all__ = [
    "POSITIVE_STATES",
    "REASONS",
    "RULE",
    "STATES",
    "are_ranked",
    "kinds_of_states",
    "states_of",
]

REASONS: Final = ("score", "random", "audit", "complaint", "rule")
"""Why a row was reviewed; every word that is none of the first four is a rule."""
RULE: Final = REASONS.index("rule")
_READ_AS: Final = (BY_SCORE, BY_SCORE, BY_CHANCE_AMONG_SILENT, BY_COMPLAINT, BY_RULE)
_VERDICTS: Final = (1, 0, -1)
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
        1 positive, 0 negative, -1 undecided, -2 not reviewed.
    reason : ndarray of shape (n,)
        Place in `REASONS`; it does not matter where a row was not reviewed.
    """
    review = 1 + len(_VERDICTS) * reason + (1 - verdict)
    return np.asarray(complained + 2 * np.where(verdict == UNREVIEWED, 0, review), dtype=np.int64)


def _reviews() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Verdict and reason by half of the state."""
    verdict = [UNREVIEWED, *(_VERDICTS * len(REASONS))]
    reason = [0, *np.repeat(np.arange(len(REASONS)), len(_VERDICTS)).tolist()]
    return np.array(verdict, dtype=np.int64), np.array(reason, dtype=np.int64)


_VERDICT, _REASON = _reviews()


def kinds_of_states(states: NDArray[np.int64], *, stopped: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Index into `KINDS` of each row; `stopped` says which were declined outright."""
    review = states // 2
    return kind_of_rows(
        verdict=_VERDICT[review].astype(np.int8),
        chosen_by=np.array(_READ_AS, dtype=np.int8)[_REASON[review]],
        complained=states % 2 == 1,
        stopped=stopped,
    )


def are_ranked(states: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row was reviewed for its score."""
    review = states // 2
    return np.asarray((review > 0) & (_REASON[review] == REASONS.index("score")))


def _positive() -> tuple[int, ...]:
    states = np.arange(STATES)
    kinds = kinds_of_states(states, stopped=np.zeros(STATES, dtype=bool))
    return tuple(int(state) for state in states if KINDS[kinds[state]] in POSITIVE)


POSITIVE_STATES: Final = _positive()
"""States of rows that are known to be positive."""
