"""Labels that prefer some scores: what that would change, and where labels are said to come from.

Derivation: docs/decisions/fair-labels-are-said.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pumonitor.errors import InputError, did_you_mean
from pumonitor.results import (
    LABEL_ORIGINS,
    Estimate,
    LabelAssumption,
    LabelOrigin,
)
from pumonitor.text import percent_text

PREFERENCE: Final = 3.0

_FAIR: Final = (
    "Labels are taken for a fair sample of the positives: whether a positive is confirmed has "
    "nothing to do with its score."
)
_FAIR_COMPLAINTS: Final = (
    "Complaints are taken for a fair sample of the positives: a positive complains as often at any "
    "score, and none was stopped or reviewed before it could."
)
_FAIR_BY_PROPENSITY: Final = (
    "Labels are taken for a fair sample of the positives given their propensities: none was out of "
    "reach, and beyond the propensity the score decides nothing."
)
_ASK: Final = " Say where they come from, label_origin: queue, complaints, both or random."
_REMEDY: Final = (
    "Give complaints as labels and the verdicts of the queue as reviews "
    "(reviews=pumonitor.Reviews(...), --verdicts, or reviews of a monitor); or draw cases by "
    "chance (pumonitor.draw_audit, pumonitor audit)"
)


def check_label_origin(origin: object) -> None:
    """Refuse other words.

    Raises
    ------
    ValueError
        If it is neither None nor one of the four.

    Examples
    --------
    >>> check_label_origin("complaint")
    Traceback (most recent call last):
    ...
    ValueError: label_origin must be 'queue', 'complaints', 'both' or 'random', got 'complaint'; \
did you mean 'complaints'?
    """
    if origin is not None and origin not in LABEL_ORIGINS:
        hint = did_you_mean(str(origin), LABEL_ORIGINS)
        msg = (
            f"label_origin must be 'queue', 'complaints', 'both' or 'random', got {origin!r}{hint}"
        )
        raise ValueError(msg)


def why_labels_of_a_queue_do_not_tell(
    origin: LabelOrigin | None, *, found_above: float | None = None, propensities: bool = False
) -> str | None:
    """Why labels are no fair sample by what the user says; None if they may be one.

    Parameters
    ----------
    origin : LabelOrigin or None
    found_above : float, optional
        Share of the confirmed positives that score at or above the threshold.
    propensities : bool
        Whether the chance of each label is given: it makes up for the queue.
    """
    if origin not in ("queue", "both") or propensities:
        return None
    source = "a review queue" if origin == "queue" else "a review queue beside complaints"
    seen = (
        ""
        if found_above is None or origin == "both"
        else f" (of those that it found {percent_text(found_above)} score at or above the "
        "threshold, which is recall among what the queue saw)"
    )
    return (
        f"label_origin is {origin!r}: labels of {source} prefer what the queue looks at, so that "
        f"recall, F1, AUC and the class prior cannot be known from them alone{seen}. {_REMEDY}"
    )


def refuse_labels_of_a_queue(
    origin: LabelOrigin | None, *, found_above: float | None = None, propensities: bool = False
) -> None:
    """Refuse labels that a queue chose where they would be taken for a fair sample.

    Raises
    ------
    InputError
        As `why_labels_of_a_queue_do_not_tell` says.
    """
    why = why_labels_of_a_queue_do_not_tell(
        origin, found_above=found_above, propensities=propensities
    )
    if why is not None:
        raise InputError(why)


def recall_under_preference(recall: float, odds: float, *, label_frequency: float = 0.0) -> float:
    """What a recall taken from fair labels is, where flagged positives are confirmed more often.

    Confirmed positives are where they are. Of the others as large a share would be flagged only if
    positives were confirmed whatever they score; with `odds` times the odds of confirmation at or
    above the threshold it is smaller. No other dependence on the score that keeps the odds of any
    two positives within that ratio moves recall further.

    Parameters
    ----------
    recall : float
        In [0, 1].
    odds : float
        Above 0; below 1 flagged positives are confirmed less often.
    label_frequency : float
        Share of the positives that is confirmed, in [0, 1]; 0, by which recall moves furthest,
        where it is not known.

    Examples
    --------
    >>> round(recall_under_preference(0.54, 3.0, label_frequency=0.5), 3)
    0.411
    >>> recall_under_preference(0.54, 3.0, label_frequency=1.0)
    0.54
    """
    of_unconfirmed = recall / (recall + odds * (1.0 - recall))
    return label_frequency * recall + (1.0 - label_frequency) * of_unconfirmed


def f1_at_recall(recall: float, *, class_prior: float, predicted_positive_rate: float) -> float:
    """F1 with the class prior as it is, no more being caught than is flagged.

    Examples
    --------
    >>> round(f1_at_recall(0.5, class_prior=0.1, predicted_positive_rate=0.1), 3)
    0.5
    """
    caught = min(class_prior * recall, predicted_positive_rate)
    return 2.0 * caught / (class_prior + predicted_positive_rate)


def label_assumption(
    values: Mapping[str, float | None],
    *,
    origin: LabelOrigin | None,
    propensities: bool = False,
) -> LabelAssumption | None:
    """What a result takes for granted of its labels; None where the user says that it is so.

    Parameters
    ----------
    values : mapping of str to float or None
        "recall", "label_frequency", "class_prior" and "predicted_positive_rate" as people see them,
        as far as there are any.
    origin : LabelOrigin or None
        "random": nothing is taken for granted then.
    propensities : bool
        Whether the chance of each label is given.
    """
    if origin == "random":
        return None
    taken = (
        _FAIR_BY_PROPENSITY
        if propensities
        else _FAIR_COMPLAINTS
        if origin == "complaints"
        else _FAIR
    )
    recall = values.get("recall")
    metrics: dict[str, tuple[float, float]] = {}
    moved = ""
    if recall is not None:
        # Of weighted labels it is not told where the confirmed ones lie: as if hardly any were.
        confirmed = None if propensities else values.get("label_frequency")
        low, high = (
            recall_under_preference(recall, ratio, label_frequency=confirmed or 0.0)
            for ratio in (PREFERENCE, 1 / PREFERENCE)
        )
        metrics["recall"] = low, high
        prior = values.get("class_prior")
        flagged = values.get("predicted_positive_rate")
        if flagged is not None and prior:
            metrics["f1"] = (
                f1_at_recall(low, class_prior=prior, predicted_positive_rate=flagged),
                f1_at_recall(high, class_prior=prior, predicted_positive_rate=flagged),
            )
        # A recall of 0 or 1 stays there, whatever is confirmed more often.
        if 0.0 < recall < 1.0:
            moved = (
                " If positives at or above the threshold had three times the odds of confirmation "
                f"of the others, recall would be {percent_text(low)}, not {percent_text(recall)}; "
                f"if a third, {percent_text(high)}."
            )
    return LabelAssumption(
        sentence=f"{taken}{moved}{'' if origin else _ASK}", odds=PREFERENCE, metrics=metrics
    )


def displayed_values(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Values of estimates as people see them, of those that have one."""
    return {
        name: estimate.displayed[0]
        for name, estimate in estimates.items()
        if estimate.undefined_reason is None
    }
