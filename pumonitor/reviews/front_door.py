"""Rows with reviews, as `evaluate` and `decide` are given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_labels, check_same_index
from pumonitor.errors import InputError
from pumonitor.reviews.bins import (
    count_rows,
    count_rows_of_both,
    cuts_of_queue,
    kinds_of_rows,
    labels_of_kinds,
    lowest_of_stopped,
)
from pumonitor.reviews.given import UNREVIEWED, Reviews
from pumonitor.reviews.queue_score import QueueOfAnotherScore
from pumonitor.reviews.reading import ReviewedEstimates, read_reviews
from pumonitor.tables import ScoreTable

__all__ = ["refuse_without_reviews", "reviewed_rows"]

_FEWEST: Final = 2
"""Known positives; fewer have no place on the scores."""


def reviewed_rows(
    labels: Any,
    scores: NDArray[Any],
    *,
    reviews: Reviews,
    complaint_rate: tuple[float, float] | None,
    thresholds: Sequence[float],
    confidence_level: float,
    f_beta: float = 2.0,
    class_prior: object,
    scenario: str,
    label_purity: object,
    given: Mapping[str, object],
) -> tuple[ScoreTable, ReviewedEstimates]:
    """Rows as a table of what is known of them, and what reviews and complaints say of it.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 where a row complained, else 0.
    scores : ndarray of shape (n,)
    reviews, complaint_rate, confidence_level, f_beta
        As in `pumonitor.evaluate`.
    thresholds : sequence of float
        The first is the one that estimates are for.
    class_prior, scenario, label_purity, given
        What was given beside reviews.

    Raises
    ------
    TypeError
        If these are no reviews.
    ValueError
        If something was given that reviews say themselves, or does not go with them.
    InputError
        If labels hold a -1, reviews are of other rows, or too little is known.
    """
    _refuse_beside(
        reviews,
        class_prior=class_prior,
        scenario=scenario,
        label_purity=label_purity,
        given=given,
    )
    check_same_index(labels, reviews.given, name="verdicts")
    known = as_labels(labels)
    _check_rows(known, scores, reviews)
    threshold = thresholds[0]
    ranking = scores if reviews.ranked_by is None else reviews.ranked_by
    cuts = cuts_of_queue(ranking, reviews)
    stopped = reviews.rows.stopped & (reviews.rows.verdict < 0)
    edges = (*cuts, *lowest_of_stopped(ranking[stopped], ranking[~stopped]))
    kinds = kinds_of_rows(known == 1, reviews)
    known_of = labels_of_kinds(kinds)
    if not np.any(known_of == 0):
        # A table needs rows to compare the positives with: where all were reviewed, the cleared.
        known_of = np.maximum(known_of, 0)
    own = (*thresholds, *edges) if reviews.ranked_by is None else thresholds
    table = ScoreTable.from_arrays(known_of, scores, thresholds=own)
    counts = count_rows(
        table,
        scores,
        kinds,
        threshold=threshold,
        cuts=edges if reviews.ranked_by is None else (),
        blocks=reviews.blocks,
    )
    queue = None
    if reviews.ranked_by is not None:
        edge = cuts[0] if cuts else float(np.median(ranking))
        ranked = ScoreTable.from_arrays(known_of, ranking, thresholds=(edge, *edges))
        asked = count_rows(
            ranked, ranking, kinds, threshold=edge, cuts=edges, blocks=reviews.blocks
        )
        labeled, possible = count_rows_of_both(asked.bins, counts.bins, ranking, scores, kinds)
        queue = QueueOfAnotherScore(counts=asked, labeled=labeled, possible=possible)
    return table, read_reviews(
        counts,
        queue=queue,
        cuts=cuts,
        rules=reviews.rows.rules,
        detection_rate=reviews.detection_rate,
        complaint_rate=complaint_rate,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def refuse_without_reviews(complaint_rate: object) -> None:
    """Say what goes with a rate of complaints.

    Raises
    ------
    ValueError
        If it is given.
    """
    if complaint_rate is not None:
        msg = (
            "complaint_rate says how often positives complain that no queue reviewed: give reviews "
            "as well; of all positives, label_frequency says it"
        )
        raise ValueError(msg)


def _check_rows(labels: NDArray[np.int8], scores: NDArray[Any], reviews: Reviews) -> None:
    if not len(labels) == len(scores) == len(reviews):
        msg = (
            "labels, scores and reviews must have one value a row, got "
            f"{len(labels)}, {len(scores)} and {len(reviews)}"
        )
        raise InputError(msg)
    negatives = int((labels == -1).sum())
    if negatives:
        msg = (
            f"labels has {negatives} values -1, first at row {int((labels == -1).argmax())}: "
            "with reviews labels are complaints alone, 1 or 0, and a cleared case is a verdict 0"
        )
        raise InputError(msg)
    verdict = reviews.rows.verdict
    cleared = int((verdict == 0).sum())
    mistaken = int(((labels == 1) & (verdict == 0)).sum())
    if np.all(verdict != UNREVIEWED) and 2 * mistaken > int((labels == 1).sum()):
        msg = (
            f"verdicts is 0 in {cleared} of {len(labels)} rows, {mistaken} of them with a "
            "complaint, and no row is without one: leave rows that nobody looked at empty, not 0"
        )
        raise InputError(msg)
    if int(((labels == 1) | (verdict == 1)).sum()) < _FEWEST:
        msg = "fewer than two rows are known to be positive by a verdict or a complaint"
        raise InputError(msg)


def _refuse_beside(
    reviews: object,
    *,
    class_prior: object,
    scenario: str,
    label_purity: object,
    given: Mapping[str, object],
) -> None:
    """Refuse what reviews say themselves, and what their likelihood does not know."""
    if not isinstance(reviews, Reviews):
        msg = (
            f"reviews must be a pumonitor.Reviews, got {type(reviews).__name__}: "
            "pumonitor.Reviews(verdicts, blocks=...)"
        )
        raise TypeError(msg)
    wrong = [name for name, value in given.items() if value is not None]
    if not (isinstance(class_prior, str) and class_prior == "auto"):
        wrong.insert(0, "class_prior")
    if wrong:
        msg = (
            "reviews and complaints say how many positives there are, and whose labels they are: "
            f"leave out {', '.join(wrong)}, or reviews"
        )
        if "detection_rate" in wrong:
            msg += "; what review misses is said by Reviews(detection_rate=...)"
        raise ValueError(msg)
    if scenario != "single-training-set" or label_purity != 1.0:
        msg = (
            "reviews are read in the single-training-set scenario with a label_purity of 1, got "
            f"{scenario!r} and {label_purity!r}"
        )
        raise ValueError(msg)
