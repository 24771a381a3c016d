"""The verdict: a handful of sentences that answer what people ask of a classifier."""

from __future__ import annotations

from pumonitor.prior.followed.in_words import prior_changes
from pumonitor.report.prior_origin import over_time, prior_origin
from pumonitor.results import Estimate, Evaluation
from pumonitor.text import (
    given_text,
    interval_text,
    money_text,
    number_text,
    percent_text,
    percent_with_interval,
)
from pumonitor.views.estimates import uncorrected_value

__all__ = ["verdict"]

_TOO_WIDE = 0.5
_WORTH_SAYING = 0.005


def verdict(evaluation: Evaluation) -> list[str]:
    """What the evaluation says, in sentences for people, the most important first.

    Intervals stand in brackets, at the evaluation's confidence level. A share that came out
    impossible or has no value is said to be so.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> scores = rng.normal(2.0 * is_positive)
    >>> labels = is_positive & (rng.random(20_000) < 0.3)
    >>> ev = pumonitor.evaluate(labels, scores, threshold=2.0, class_prior=0.05)
    >>> print(verdict(ev)[-1])
    A real positive scores above a real negative 92.3% (...%) of the time; guessing gives 50%.
    """
    return [
        _flagged(evaluation),
        _found(evaluation),
        *_worth(evaluation),
        _how_many(evaluation),
        _ranking(evaluation),
        *_cautions(evaluation),
    ]


def _share(estimate: Estimate) -> str:
    return percent_with_interval(*estimate.displayed)


def _untold(question: str, estimate: Estimate, *, as_percent: bool = True) -> str | None:
    """Why a question has no answer, None when it has one."""
    if estimate.undefined_reason is not None:
        return f"{question} is not known: {estimate.undefined_reason}."
    if estimate.interval_infeasible:
        shown = percent_text(estimate.value) if as_percent else number_text(estimate.value)
        return (
            f"{question} is not known: the estimate came out at {shown}, which is impossible, and "
            "chance does not explain it."
        )
    return None


def _beyond(estimate: Estimate) -> str:
    if not estimate.infeasible:
        return ""
    return f" (The estimate itself is {percent_text(estimate.value)}, which chance can explain.)"


def _too_wide(estimate: Estimate) -> str:
    _, low, high = estimate.displayed
    return " That is too uncertain to act on." if high - low > _TOO_WIDE else ""


def _flagged(evaluation: Evaluation) -> str:
    precision = evaluation["precision"]
    threshold = given_text(evaluation.settings["threshold"])
    question = f"How many of the cases flagged at {threshold} are really positive"
    untold = _untold(question, precision)
    if untold is not None:
        return untold
    value, low, high = precision.displayed
    naive = uncorrected_value(evaluation, "precision")
    comparison = ""
    if naive is not None and abs(naive - value) > _WORTH_SAYING:
        comparison = (
            " Counting unconfirmed cases as negatives would have given "
            f"{percent_text(naive, width=high - low)}."
        )
    return (
        f"Of the cases the model flags at {threshold}, about {_share(precision)} are really "
        f"positive.{_beyond(precision)}{_too_wide(precision)}{comparison}"
    )


def _found(evaluation: Evaluation) -> str:
    recall, flagged = evaluation["recall"], evaluation["predicted_positive_rate"]
    untold = _untold("How many of the real positives it finds", recall)
    if untold is not None:
        return untold
    return (
        f"It finds about {_share(recall)} of the real positives, by flagging "
        f"{percent_text(flagged.displayed[0])} of all cases.{_beyond(recall)}{_too_wide(recall)}"
    )


def _worth(evaluation: Evaluation) -> list[str]:
    """What it misses, where it is known what rows are worth."""
    missed, recall = (evaluation.estimates.get(name) for name in ("missed_value", "recall_value"))
    if missed is None or recall is None:
        return []
    unit = evaluation.settings.get("value_unit")
    _, low, high = missed.displayed
    amount = money_text(missed.value, unit)
    untold = _untold("Which share of their value it finds", recall)
    share = untold or f"It finds {_share(recall)} of their value."
    return [f"Those it misses are worth {amount} ({interval_text(low, high)}). {share}"]


def _how_many(evaluation: Evaluation) -> str:
    prior = evaluation.class_prior
    share = percent_with_interval(prior.value, prior.low, prior.high)
    about = share if prior.is_known else f"about {share}"
    followed = over_time(prior)
    if followed is None and prior_origin(prior.method) is None:
        sentence = f"Taken as given: {about} of all cases are really positive"
    else:
        sentence = f"{about[0].upper()}{about[1:]} of all cases are really positive"
    changes = None if followed is None else prior_changes(followed)
    return " ".join(filter(None, [f"{sentence}{_confirmed(evaluation)}.", changes]))


def _confirmed(evaluation: Evaluation) -> str:
    """How many of the positives are."""
    confirmed = evaluation.estimates.get("label_frequency")
    if confirmed is None or confirmed.undefined_reason is not None:
        return ""
    if confirmed.infeasible:
        return ", fewer than have been confirmed: this share must be too low"
    return f"; {_share(confirmed)} of those have been confirmed"


def _ranking(evaluation: Evaluation) -> str:
    auc = evaluation["auc"]
    untold = _untold("How well the scores rank (AUC)", auc, as_percent=False)
    if untold is not None:
        return untold
    return (
        f"A real positive scores above a real negative {_share(auc)} of the time; guessing gives "
        f"50%.{_beyond(auc)}"
    )


def _cautions(evaluation: Evaluation) -> list[str]:
    count = sum(finding.severity == "warning" for finding in evaluation.warnings)
    if count == 0:
        return []
    return [
        "One warning puts these numbers in doubt."
        if count == 1
        else f"{count} warnings put these numbers in doubt."
    ]
