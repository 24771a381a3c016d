"""Rows with reviews, as `evaluate`, `decide` and `compare` are given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._rows import value_design_effect
from pumonitor._validate import as_labels, check_same_index
from pumonitor._valued import ValuedRows
from pumonitor.errors import InputError, no_such
from pumonitor.reviews.bins import (
    count_rows,
    edges_of_queue,
    kinds_of_rows,
    labels_of_kinds,
    took_the_highest,
)
from pumonitor.reviews.counts import KINDS, POSITIVE, ReviewCounts
from pumonitor.reviews.given import UNREVIEWED, Reviews
from pumonitor.reviews.models import ReviewedModels
from pumonitor.reviews.queue_score import SURELY_NEGATIVE, ModelBins, QueueRows
from pumonitor.reviews.reading import read_reviews
from pumonitor.tables import ScoreTable

__all__ = ["refuse_without_reviews", "reviewed_models"]

_FEWEST: Final = 2
"""Known positives; fewer have no place on the scores."""


def reviewed_models(
    labels: Any,
    scores: Mapping[str, NDArray[Any]],
    *,
    reviews: Reviews,
    complaint_rate: tuple[float, float] | None,
    thresholds: Mapping[str, Sequence[float]],
    confidence_level: float,
    f_beta: float = 2.0,
    class_prior: object,
    scenario: str,
    label_purity: object,
    given: Mapping[str, object],
    entity: Any = None,
    worth: NDArray[np.float64] | None = None,
) -> ReviewedModels:
    """What reviews and complaints say of each model that scored the rows.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 where a row complained, else 0.
    scores : mapping of str to ndarray of shape (n,)
    reviews, complaint_rate, confidence_level, f_beta
        As in `pumonitor.evaluate`.
    thresholds : mapping of str to sequence of float
        Of each model; the first is the one that estimates are for.
    class_prior, scenario, label_purity, given
        What was given beside reviews.
    entity
        As in `pumonitor.evaluate`.
    worth : ndarray of shape (n,), optional
        What rows are worth.

    Raises
    ------
    TypeError
        If these are no reviews.
    ValueError
        If something was given that reviews say themselves, or does not go with them.
    InputError
        If labels hold a -1, reviews are of other rows, too little is known, or the score that
        filled the queue is none of these and not named.
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
    _check_rows(known, next(iter(scores.values())), reviews)
    kinds = kinds_of_rows(known == 1, reviews)
    known_of = labels_of_kinds(kinds)
    if not np.any(known_of == 0):
        # A table needs rows to compare the positives with: where all were reviewed, the cleared.
        known_of = np.maximum(known_of, 0)
    own, ranking = _score_of_queue(reviews, scores)
    cuts, edges = edges_of_queue(ranking, reviews)

    def counted(
        values: NDArray[Any], wanted: Sequence[float], inner: tuple[float, ...]
    ) -> tuple[ScoreTable, ReviewCounts]:
        table = ScoreTable.from_arrays(
            known_of, values, thresholds=(*wanted, *inner), entity=entity
        )
        return table, count_rows(
            table,
            values,
            kinds,
            threshold=wanted[0],
            cuts=inner,
            blocks=reviews.blocks,
            probability=reviews.rows.probability,
        )

    tables, counts = {}, {}
    for name, values in scores.items():
        tables[name], counts[name] = counted(values, thresholds[name], edges if name == own else ())
    if own is None:
        edge = cuts[0] if cuts else float(np.median(ranking))
        _, asked = counted(ranking, (edge,), edges)
    else:
        asked = counts[own]
    by_queue = read_reviews(
        asked,
        cuts=cuts,
        rules=reviews.rows.rules,
        detection_rate=reviews.detection_rate,
        complaint_rate=complaint_rate,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )
    rows = QueueRows(
        counts=asked,
        bin_of_row=asked.bins.bin_of(ranking),
        known=np.isin(kinds, [KINDS.index(name) for name in POSITIVE]),
        possible=~np.isin(kinds, [KINDS.index(name) for name in SURELY_NEGATIVE]),
    )
    bins_of_row = {name: counts[name].bins.bin_of(values) for name, values in scores.items()}
    readings = {}
    for name in scores:
        readings[name] = by_queue
        if name != own:
            readings[name] = rows.read_along(by_queue, ModelBins(counts[name], bins_of_row[name]))
    if worth is not None:
        effect = value_design_effect(entity, known_of, worth)
        for name, table in tables.items():
            along = None if name == own else ranking
            valued = ValuedRows.of_rows(worth, kinds, scores[name], along, effect)
            tables[name] = replace(table, values=valued)
    return ReviewedModels(
        tables=tables,
        readings=readings,
        ranked_by=own,
        by_queue=by_queue.posteriors,
        rows=rows,
        bins_of_row=bins_of_row,
        scores=scores,
        kinds=kinds,
    )


def _score_of_queue(
    reviews: Reviews, scores: Mapping[str, NDArray[Any]]
) -> tuple[str | None, NDArray[Any]]:
    """The model whose score filled the queue, if it is one of these, and that score."""
    ranked_by = reviews.ranked_by
    if isinstance(ranked_by, str):
        if ranked_by in scores and len(scores) > 1:
            return ranked_by, scores[ranked_by]
        if len(scores) > 1:
            raise InputError(f"ranked_by: {no_such('model', ranked_by, scores)}")
        msg = (
            f"ranked_by is the name {ranked_by!r}, and only compare knows models by name: give the "
            "score of each row"
        )
        raise InputError(msg)
    if ranked_by is not None:
        own = (name for name, values in scores.items() if np.array_equal(values, ranked_by))
        return next(own, None), ranked_by
    fitting = [
        name
        for name, values in scores.items()
        if len(scores) == 1 or took_the_highest(values, reviews)
    ]
    if not fitting:
        msg = (
            "verdicts lie below rows that were not reviewed by the scores of each of "
            f"{', '.join(scores)}: say which model's score filled the queue, "
            f"Reviews(ranked_by={next(iter(scores))!r}), or give that score"
        )
        if not reviews.is_chosen_by_given:
            msg += (
                "; and if rows were reviewed for other reasons too, why each was, "
                "Reviews(chosen_by=...)"
            )
        raise InputError(msg)
    return fitting[0], scores[fitting[0]]


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
