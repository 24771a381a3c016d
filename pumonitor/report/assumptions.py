"""What an evaluation takes for granted, and what is doubtful about it, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from pumonitor.names import title
from pumonitor.prior.followed.in_words import prior_origin as followed_from
from pumonitor.report import review_words
from pumonitor.report.audit_words import (
    NOT_SEEN,
    fair_labels,
    how_drawn,
    what_intervals_cover,
)
from pumonitor.report.prior_origin import over_time, prior_origin
from pumonitor.report.weights import weights_in_words
from pumonitor.results import Evaluation
from pumonitor.text import percent_text, percent_with_interval

_FAIR: Final = (
    "The confirmed positives are a fair sample of all positives: whether a positive gets confirmed "
    "has nothing to do with its score. Where obvious cases are confirmed first, recall and AUC "
    "come out too high."
)
_BY_CHANCE: Final = (
    "The confirmed positives are a fair sample of all positives: as stated, the cases that were "
    "looked at were drawn by chance."
)
_NARROWER: Final = (
    " A share of some past period that is known from elsewhere, given in its place, makes them "
    "narrower."
)
_UNSEEN: Final = (
    "Three errors do not change how scores and confirmed positives look: easy positives are "
    "confirmed first, some negatives score exactly like positives, or mistaken confirmations score "
    "like right ones. A page without warnings does not rule these out; only a random sample of "
    "reviewed cases can show them."
)
_PROPENSITIES: Final = (
    "How likely each confirmed positive was to be confirmed is given, and corrected for: hard "
    "cases that got confirmed count for more. The estimates are only as good as these chances, and "
    "positives that had no chance of being confirmed are missed."
)
_SCENARIO: Final = {
    "single-training-set": (
        "Confirmed and unconfirmed cases together are the cases the model scores; some of the "
        "positives among them have been confirmed."
    ),
    "case-control": (
        "The unconfirmed cases alone are a sample of the cases the model scores; the confirmed "
        "positives were collected apart from them."
    ),
}
_TARGET: Final = {
    "process": (
        "The intervals are about the process behind these cases: they allow for other cases "
        "having come up, so one period can be compared with another."
    ),
    "window": (
        "The intervals are about these very cases: only which positives got confirmed is left to "
        "chance."
    ),
}


def assumptions(evaluation: Evaluation) -> dict[str, str]:
    """What is assumed, by subject."""
    settings, audit = evaluation.settings, evaluation.audit
    if audit is not None:
        flagged = evaluation["predicted_positive_rate"]
        return {
            "Fair labels": fair_labels(audit),
            "The audit": how_drawn(audit),
            "Where the cases come from": _SCENARIO[settings["scenario"]],
            "Share of positives": _class_prior(evaluation),
            "Trust in confirmations": _purity(settings["label_purity"]),
            "What the intervals cover": what_intervals_cover(
                is_flagged_apart=flagged.high > flagged.low
            ),
            "What cannot be seen": NOT_SEEN,
        }
    if evaluation.reviews is not None:
        return {
            "Reviews": review_words.how_reviewed(evaluation.reviews),
            "Complaints": review_words.how_complaints_come(evaluation.reviews),
            "Share of positives": _class_prior(evaluation),
            "What the intervals cover": review_words.THESE_CASES,
            "What cannot be seen": review_words.NOT_SEEN,
        }
    return {
        "Fair labels": _fairness(settings),
        "Where the cases come from": _SCENARIO[settings["scenario"]],
        "Share of positives": _class_prior(evaluation),
        "Trust in confirmations": _purity(settings["label_purity"]),
        "What the intervals cover": _TARGET[settings["target"]],
        "What cannot be seen": _UNSEEN,
    }


def _fairness(settings: Mapping[str, Any]) -> str:
    """How confirmations were chosen, and how uneven the weights are that make up for it."""
    origin = _PROPENSITIES if settings["propensities"] else _FAIR
    if settings.get("label_origin") == "random":
        origin = _BY_CHANCE
    return " ".join([origin, *weights_in_words(settings)])


def _class_prior(evaluation: Evaluation) -> str:
    prior = evaluation.class_prior
    share = percent_with_interval(prior.value, prior.low, prior.high)
    if prior.is_known:
        return (
            f"Taken as known: {share} of all cases are positive. The intervals do not allow for "
            "this being wrong."
        )
    followed = over_time(prior)
    if followed is not None:
        return (
            f"{share} of all cases are positive. {followed_from(followed)} The intervals allow for "
            f"this range.{_NARROWER if followed['level']['source'] != 'given' else ''}"
        )
    origin = prior_origin(prior.method)
    if origin is None:
        return (
            f"Assumed, as given: {share} of all cases are positive. It is not estimated from these "
            "cases. The intervals allow for this range."
        )
    if origin.startswith("Counted"):
        return (
            f"{origin}: {share} of all cases are positive, since a confirmed case that had one "
            "chance in ten stands for ten. The scores are not used. The intervals allow for this "
            "range."
        )
    if prior.method.startswith(("audit", "reviews")):
        return f"{origin}: {share} of all cases are positive. The intervals allow for this range."
    return (
        f"{origin}: {share} of all cases are positive. The intervals "
        "allow for this range. A share known from elsewhere, given in its place, makes them "
        "narrower."
    )


def _purity(purity: float) -> str:
    if purity == 1.0:
        return "Every confirmed positive is really positive."
    return (
        f"{percent_text(purity)} of the confirmed positives are really positive; the others are "
        "confirmed by mistake and are corrected for."
    )


def doubts(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What is doubtful: severity (``"warning"`` or ``"note"``) and sentence, warnings first."""
    found = [(finding.severity, finding.sentence) for finding in evaluation.warnings]
    return [*found, *(("note", sentence) for sentence in _without_value(evaluation))]


def _without_value(evaluation: Evaluation) -> list[str]:
    names_by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for name, estimate in evaluation.estimates.items():
        if estimate.undefined_reason is not None:
            names_by_reason[estimate.undefined_reason].append(title(name, evaluation.settings))
    return [
        f"No value for {', '.join(names)}: {reason}." for reason, names in names_by_reason.items()
    ]
