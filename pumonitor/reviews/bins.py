"""Score bins of a window with reviews: an edge at the threshold and at the cuts of the queue."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.bins import bins_with_cuts
from pumonitor.errors import InputError
from pumonitor.reviews.counts import KINDS, NEGATIVE, POSITIVE, ReviewCounts, kind_of_rows
from pumonitor.reviews.given import UNREVIEWED, Reviews
from pumonitor.reviews.unequal_chances import as_known, sums_of_odds
from pumonitor.tables import ScoreTable

IntArray = NDArray[np.int64]

MOST: Final = 20
LABELED_A_BIN: Final = 3


def took_the_highest(scores: NDArray[Any], reviews: Reviews) -> bool:
    """Whether no verdict of the queue lies below a row that it passed over."""
    return _verdicts_below(scores, reviews) == 0


def cuts_of_queue(scores: NDArray[Any], reviews: Reviews) -> tuple[float, ...]:
    """Lowest score that the queue took, and the one from which on it took all, if it is another.

    Raises
    ------
    InputError
        If nothing says how rows were chosen and verdicts lie below rows that were not reviewed.
    """
    ranked, below = reviews.rows.is_ranked, _verdicts_below(scores, reviews)
    cuts = cuts_of_scores(scores[ranked], scores[_left(reviews)], all_scores=scores)
    # Of rows that tie at the cut some may be left over: none lies below the other then.
    if below and not reviews.is_chosen_by_given:
        msg = (
            f"{below} of {int(ranked.sum())} verdicts lie below rows that were not reviewed, so "
            "the queue did not take the highest scores alone: say why each row was reviewed, "
            "Reviews(chosen_by=...), with score, random, audit, complaint or the name of a rule; "
            "chosen_by='score' only if the queue took the highest scores of each day. Rows that "
            "were declined outright are no such rows: name them, Reviews(stopped=...). If another "
            "score filled the queue, give that score: Reviews(ranked_by=...)"
        )
        raise InputError(msg)
    return cuts


def edges_of_queue(
    scores: NDArray[Any], reviews: Reviews
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The cuts of the queue, and all scores at which what is known of rows changes.

    Raises
    ------
    InputError
        As `cuts_of_queue` does.
    """
    cuts = cuts_of_queue(scores, reviews)
    stopped = reviews.rows.stopped & (reviews.rows.verdict < 0)
    return cuts, (*cuts, *lowest_of_stopped(scores[stopped], scores[~stopped]))


def _left(reviews: Reviews) -> NDArray[np.bool_]:
    """Rows that were neither reviewed nor stopped."""
    return np.asarray((reviews.rows.verdict == UNREVIEWED) & ~reviews.rows.stopped)


def _verdicts_below(scores: NDArray[Any], reviews: Reviews) -> int:
    """Rows that the queue took for their score though it left one of a higher score."""
    highest = scores[_left(reviews)].max(initial=-np.inf)
    return int((reviews.rows.is_ranked & (scores < highest)).sum())


def cuts_of_scores(
    ranked: NDArray[Any], left: NDArray[Any], *, all_scores: NDArray[Any]
) -> tuple[float, ...]:
    """The same of scores that the queue took and of those of rows that it could have taken.

    Parameters
    ----------
    ranked : ndarray of shape (m,)
        Reviewed for their score.
    left : ndarray of shape (k,)
        Neither reviewed nor stopped.
    all_scores : ndarray of shape (n,)
    """
    if len(ranked) == 0:
        return ()
    lowest, highest = float(ranked.min()), float(left.max(initial=-np.inf))
    above = all_scores[all_scores > highest]
    if highest < lowest or len(above) == 0:
        return (lowest,)
    return (lowest, float(above.min()))


def lowest_of_stopped(stopped: NDArray[Any], others: NDArray[Any]) -> tuple[float, ...]:
    """The score from which on all rows were stopped, if there is one: nothing is known above it.

    Parameters
    ----------
    stopped : ndarray of shape (m,)
        Scores of rows that were stopped without a verdict.
    others : ndarray of shape (k,)
        Scores of all other rows.
    """
    beyond = stopped[stopped > others.max(initial=-np.inf)]
    return () if len(beyond) == 0 or len(others) == 0 else (float(beyond.min()),)


def kinds_of_rows(complained: NDArray[np.bool_], reviews: Reviews) -> NDArray[np.intp]:
    """Index into `KINDS` of each row; those drawn with unequal chances are known."""
    rows = reviews.rows
    kinds = kind_of_rows(
        verdict=rows.verdict,
        chosen_by=rows.chosen_by,
        complained=complained,
        stopped=rows.stopped,
    )
    return kinds if rows.probability is None else as_known(kinds, rows.probability)


def labels_of_kinds(kinds: NDArray[np.intp]) -> NDArray[np.int8]:
    """1 where a row is known to be positive, -1 where it is called negative, else 0.

    A complaint after a case was cleared says that it was cleared by mistake; a case that was
    cleared of its complaint is negative.
    """
    label = np.array([(name in POSITIVE) - (name in NEGATIVE) for name in KINDS], dtype=np.int8)
    return label[kinds]


def count_rows(
    table: ScoreTable,
    scores: NDArray[Any],
    kinds: NDArray[np.intp],
    *,
    threshold: float,
    cuts: tuple[float, ...],
    blocks: bool,
    probability: NDArray[np.float64] | None = None,
) -> ReviewCounts:
    """Rows by score bin and by what is known of them.

    Parameters
    ----------
    table : ScoreTable
        Of `labels_of_kinds`, with a cell that begins at the threshold and at each cut.
    scores : ndarray of shape (n,)
    kinds : ndarray of shape (n,)
        Those of `kinds_of_rows`.
    threshold : float
    cuts : tuple of float
    blocks : bool
        Whether a positive verdict blocks the case.
    probability : ndarray of shape (n,), optional
        Of rows drawn with unequal chances.
    """
    bins = bins_with_cuts(
        table, threshold=threshold, cuts=cuts, most=MOST, labeled_a_bin=LABELED_A_BIN
    )
    size = len(bins.rows)
    index = bins.bin_of(scores)
    counted = np.bincount(kinds * size + index, minlength=size * len(KINDS))
    return ReviewCounts.of_table(
        bins,
        counted.reshape(len(KINDS), size).astype(np.int64),
        blocks=blocks,
        odds=None
        if probability is None
        else sums_of_odds(kinds, probability, index=index, size=size),
    )
