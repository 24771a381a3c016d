"""What a decision says in words: titles, amounts, the best threshold, the best review."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pumonitor.decisions import Decision, Outcome, ReviewOptions, Where
from pumonitor.names import title
from pumonitor.text import count_text, given_text, interval_shown, marked, money_text

_TITLES: Final = {
    "reviews": "Cases to review",
    "positives_caught": "Positives caught",
    "positives_missed": "Positives missed",
    "money": "Money",
}
MEANING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "reviews": "in a window",
        "positives_caught": "in a window",
        "positives_missed": "in a window",
        "money": "value of the positives caught less the cost of the reviews, in a window",
    }
)
WHERE: Final[Mapping[Where, str]] = MappingProxyType(
    {
        "above": "cases at or above the threshold",
        "below": "cases below the threshold",
        "all": "all cases",
        "bins": "each score bin",
    }
)


def outcome_title(metric: str, *, unit: str | None = None) -> str:
    """A short name of what a threshold brings, with what values are in.

    Examples
    --------
    >>> outcome_title("reviews"), outcome_title("missed_value", unit="EUR")
    ('Cases to review', 'EUR of positives missed')
    """
    return _TITLES.get(metric) or title(metric, {"value_unit": unit})


def amount(metric: str, value: float, *, currency: str = "") -> str:
    """A value as people read it, money with its currency; an en dash without one.

    Examples
    --------
    >>> amount("money", 1234.5, currency="EUR"), amount("f1", 0.5, currency="EUR")
    ('1,234 EUR', '0.500')
    """
    return money_text(value, currency if metric == "money" else "")


def outcome_texts(outcome: Outcome, metric: str, *, currency: str = "") -> tuple[str, str]:
    """A marked value and its interval; a dash and the reason of one without a value."""
    estimate = outcome[metric]
    if estimate.undefined_reason is not None:
        return "–", estimate.undefined_reason
    value, low, high = estimate.displayed
    shown = marked(amount(metric, value, currency=currency), outcome.reasons.get(metric))
    return shown, interval_shown(low, high)


def best_said(found: Decision, *, currency: str = "") -> str:
    """Which threshold is best, what can be relied on there, and what the choice costs."""
    said = _best_said(found, currency=currency or found.value_unit or "")
    if found.doubt is not None:
        return f"{said} That is evidence of nothing: {found.doubt}."
    return said


def impossible_said(outcomes: Mapping[str, Outcome]) -> list[str]:
    """What the marks of impossible numbers mean, a line for each reason.

    Parameters
    ----------
    outcomes : mapping of str to Outcome
        By what they are called.
    """
    lines = []
    for kind, one in outcomes.items():
        named: dict[str, list[str]] = {}
        for name, why in one.reasons.items():
            named.setdefault(why, []).append(outcome_title(name))
        lines += [f"{kind}, {', '.join(names)}: {why}." for why, names in named.items()]
    return lines


def _best_said(found: Decision, *, currency: str) -> str:
    choice = found.choice
    of_money = choice.criterion == "money"
    low, single = (
        amount(choice.criterion, one, currency=currency)
        for one in (choice.low, choice.estimate.displayed[1])
    )
    if of_money and found.best["reviews"].value == 0:
        alone = found.now["money"].displayed[1]
        by_itself = (
            " The present threshold is sure to pay if it was not chosen by these rows: then the "
            f"bound of its own interval holds, {amount('money', alone, currency=currency)}."
        )
        return (
            f"Looking at {count_text(choice.candidates)} thresholds at once, at none of them is it "
            "sure that reviews pay: the lower bound of the money is highest where nothing is "
            f"reviewed.{by_itself if alone > 0 else ''}"
        )
    sentence = (
        f"Of {count_text(choice.candidates)} thresholds, {given_text(choice.threshold)} has the "
        f"highest lower bound of {'money' if of_money else 'F1'}: {low}."
    )
    if low == single:
        return f"{sentence} The bound holds at all thresholds at once."
    too_high = ", and the estimate there is too high on average" if found.audit is None else ""
    return (
        f"{sentence} The best of many looks better than it is: as if it had been fixed beforehand "
        f"the bound would read {single}{too_high}."
    )


def review_said(found: ReviewOptions, decision: Decision) -> str:
    """Which random review would narrow F1 most, and to what width."""
    best, at = found.best("f1"), decision.reviewed
    which = "present" if at is decision.now else "chosen"
    now, then = amount("f1", found.now["f1"]), amount("f1", best.widths["f1"])
    heading = f"To know F1 at the {which} threshold of {given_text(at.threshold)} better, review"
    if decision.audit is None:
        return (
            f"{heading} {count_text(best.cases)} {_among(best.where)}, picked at random: its "
            f"interval there, without a review {now} wide, is expected to become {then} wide."
        )
    fair = "if confirmed positives are a fair sample of the positives"
    if decision.audit.method == "audit":
        return (
            f"{heading} {count_text(best.cases)} more cases of the audit, as its plan spreads them "
            f"over the scores: its interval there, now {now} wide, is expected to become {then} "
            f"wide {fair}."
        )
    return (
        f"{heading} {count_text(best.cases)} cases of these rows by an audit, as its plan spreads "
        f"them over the scores: its interval there, now {now} wide, is expected to become {then} "
        f"wide {fair}, or narrower, since what is carried is read with it."
    )


def _among(where: Where) -> str:
    return "of all cases" if where == "all" else WHERE[where]
