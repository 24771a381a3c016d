"""What has changed since a class prior is followed, as far as it can be told, in sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pumonitor.prior.over_time import Explanation
from pumonitor.stats.cases_to_distinguish import cases_to_distinguish
from pumonitor.text import times_text

_SURE: Final = 0.9
_WORTH_TELLING: Final = 0.1
_CALM: Final = 0.8
_NEARLY_ALL: Final = 0.75
_EVEN: Final = 1.3
_MOST: Final = 0.95
_SINCE_REFERENCE: Final = {
    "class prior": "class_prior",
    "label frequency": "label_frequency",
    "ranking": "ranking",
    "negatives": "negatives",
}
"""Names in explanations to those in "since_reference", in the order in which they are told."""

_ORDER: Final = tuple(_SINCE_REFERENCE)
_LEAST: Final = 1e-9
_SUBJECT: Final = {
    "class prior": "the share of positives",
    "label frequency": "the share of positives that gets confirmed",
}
_OF_THEM: Final = "the share of them that gets confirmed"


def prior_changes(over_time: Mapping[str, Any], *, since: str = "") -> str | None:
    """What has changed since the windows that it was founded on, and what cannot be told of that.

    Where several explanations fit, all of them are said with their chances, and how many cases one
    has to look up if that would tell.

    Parameters
    ----------
    over_time : mapping
        Of the diagnostics of a class prior that is followed
        (`pumonitor.prior.followed.followed_prior.FollowedPrior.estimate`).
    since : str, optional
        Since when, in words: "since then".

    Returns
    -------
    str or None
        None where nothing is followed yet.

    Examples
    --------
    >>> def followed(explanations, **chances):
    ...     since = {name: {"chance": chances.get(name, 0.02), "value": 1.0}
    ...              for name in ("class_prior", "label_frequency", "ranking", "negatives")}
    ...     return {"level": {"windows": 13, "value": 0.05}, "moved": 0.4,
    ...             "since_reference": since, "explanations": [
    ...                 {"changed": list(factors), "chance": chance, "factors": factors}
    ...                 for factors, chance in explanations]}
    >>> print(prior_changes(followed([({}, 0.97)])))
    Nothing seems to have changed since the first 13 windows.
    >>> print(prior_changes(followed(
    ...     [({"class prior": 2.1}, 0.45), ({"label frequency": 1.9}, 0.43)],
    ...     class_prior=0.5, label_frequency=0.48)))
    Since the first 13 windows either the share of positives or the share of them that gets
    confirmed has about doubled: scores and confirmations cannot tell which (about even chances). A
    review of about 230 random cases would show how many are positive now.
    """
    if over_time["moved"] is None:
        return None
    since = since or f"since the first {over_time['level']['windows']} windows"
    stored = [Explanation(**one) for one in over_time["explanations"]]
    found = [one for one in stored if one.chance >= _WORTH_TELLING]
    if not found:
        return f"What has changed {since} is unclear: too many explanations fit."
    sure = [name for name in _sure(over_time["since_reference"], stored) if _is_named(name, found)]
    common = [name for name in _ORDER if all(name in one.changed for one in found)]
    beside = [name for name in _ORDER if name in sure or name in common]
    told, left = _clauses(beside, _factors(found)), _beside(beside, found)
    if set(beside) - set(sure):
        told = f"probably {told}"
        if len(left) == 1:
            told = f"{told} ({_in_ten(left[0].chance)})"
    said = f"{_told(told, left, since)}.{_of_prior(sure, found, over_time['level']['value'])}"
    return said[:1].upper() + said[1:]


# -- which ------------------------------------------------------------------------------------


def _sure(since_reference: Mapping[str, Any], stored: Sequence[Explanation]) -> list[str]:
    """What has changed whichever explanation is right."""
    chances = {name: since_reference[place]["chance"] for name, place in _SINCE_REFERENCE.items()}
    # They are named where the ranking has not changed alone.
    chances["negatives"] = sum(one.chance for one in stored if "negatives" in one.changed)
    return [name for name, chance in chances.items() if chance >= _SURE]


def _is_named(name: str, found: Sequence[Explanation]) -> bool:
    return any(name in one.changed for one in found)


def _beside(told: Collection[str], found: Sequence[Explanation]) -> list[Explanation]:
    """Explanations without what is told of all of them, each once, the likeliest first."""
    alike: dict[tuple[str, ...], list[Explanation]] = {}
    for one in found:
        left = tuple(name for name in _ORDER if name in one.changed and name not in told)
        alike.setdefault(left, []).append(one)
    together = [
        Explanation(
            changed=left,
            chance=sum(one.chance for one in some),
            factors={name: one for name, one in _factors(some).items() if name in left},
        )
        for left, some in alike.items()
    ]
    return sorted(together, key=lambda one: -one.chance)


def _factors(found: Sequence[Explanation]) -> dict[str, float]:
    """How far each has moved, as a geometric mean over the explanations that it is in."""
    means = {}
    for name in _ORDER:
        some = [(one.chance, one.factors[name]) for one in found if name in one.factors]
        if some:
            added = sum(chance * math.log(max(factor, _LEAST)) for chance, factor in some)
            means[name] = math.exp(added / sum(chance for chance, _ in some))
    return means


# -- in words ---------------------------------------------------------------------------------


def _told(sure: str, found: Sequence[Explanation], since: str) -> str:
    nothing = [one for one in found if not one.changed]
    if len(found) == 1:
        return _one(sure, found[0], since)
    if len(found) == 2 and nothing:
        changed = next(one for one in found if one.changed)
        return _perhaps(sure, _changes(changed), changed.chance / nothing[0].chance, since)
    if len(found) == 2:
        return f"{since} {f'{sure}, and ' if sure else ''}{_either(found[0], found[1])}"
    if nothing and sure:
        return f"{since} {sure}; whether {_marginals(found)} as well is unclear"
    each = [
        f"{_changes(one) or ('nothing else' if sure else 'nothing has changed')} "
        f"({_in_ten(one.chance)})"
        for one in found
    ]
    one_of = f"{since} {f'{sure}; beside that ' if sure else ''}one of these holds"
    return f"{one_of}, and it is unclear which: {_joined(each, 'or', ';')}"


def _one(sure: str, only: Explanation, since: str) -> str:
    if sure:
        return f"{since} {sure}"
    if only.chance >= _CALM:
        return f"nothing seems to have changed {since}"
    return f"probably nothing has changed {since} ({_in_ten(only.chance)})"


def _perhaps(sure: str, told: str, odds: float, since: str) -> str:
    """Whether it has changed or not, at odds for it."""
    if max(odds, 1 / odds) < _EVEN:
        if sure:
            return f"{since} {sure}; whether {told} as well is unclear ({_odds(odds)})"
        return f"whether {told} {since} is unclear ({_odds(odds)})"
    if odds > 1:
        if sure:
            return f"{since} {sure}; probably {told} as well ({_odds(odds)})"
        return f"probably {told} {since} ({_odds(odds)})"
    against = _odds(1 / odds, " against it")
    if sure:
        return f"{since} {sure}; that {told} as well cannot be ruled out ({against})"
    return f"probably nothing has changed {since}; that {told} cannot be ruled out ({against})"


def _either(likelier: Explanation, other: Explanation) -> str:
    """Two that exclude each other, in the order in which changes are told."""
    pair = sorted((likelier, other), key=lambda one: [_ORDER.index(name) for name in one.changed])
    odds = _odds(
        likelier.chance / other.chance, f" for the {'first' if pair[0] is likelier else 'second'}"
    )
    probably = "" if likelier.chance + other.chance > _NEARLY_ALL else "probably "
    said = _alike(*pair) or f"{_changes(pair[0])} or {_changes(pair[1])}"
    return f"{probably}either {said}: scores and confirmations cannot tell which ({odds})"


def _alike(first: Explanation, second: Explanation) -> str:
    """Of two shares that have done the same."""
    if (first.changed, second.changed) != (("class prior",), ("label frequency",)):
        return ""
    verbs = {_verb(factor) for one in (first, second) for factor in one.factors.values()}
    return f"{_SUBJECT['class prior']} or {_OF_THEM} {verbs.pop()}" if len(verbs) == 1 else ""


def _marginals(found: Sequence[Explanation]) -> str:
    """Each of several things that may have changed or not, the likeliest first."""
    total = sum(one.chance for one in found)
    told: dict[str, float] = {}
    for name in _ORDER:
        some = [one for one in found if name in one.changed]
        if some:
            chance = sum(one.chance for one in some) / total
            told[f"{_clauses([name], _factors(some))} ({_in_ten(chance)})"] = chance
    return _joined(sorted(told, key=lambda one: -told[one]), "or")


def _changes(one: Explanation) -> str:
    return _clauses(one.changed, one.factors)


def _clauses(names: Sequence[str], factors: Mapping[str, float]) -> str:
    return _joined([_clause(name, factors.get(name, 1.0)) for name in names])


def _clause(name: str, factor: float) -> str:
    if name == "ranking":
        # The same counts come from a model that ranks otherwise and from others being confirmed.
        how = "lower" if factor < 1 else "higher"
        return f"confirmed positives score {how} (another ranking, or others get confirmed)"
    if name == "negatives":
        return "the scores of the other cases have changed"
    return f"{_SUBJECT[name]} {_verb(factor)}"


def _verb(factor: float) -> str:
    """What a share has done.

    Examples
    --------
    >>> _verb(2.1), _verb(1.43), _verb(3.6), _verb(0.48), _verb(0.7), _verb(0.2)
    ('has about doubled', 'has risen by about 40%', 'has risen to about 3.6 times what it was',
     'has about halved', 'has fallen by about 30%', 'has fallen by about 80%')
    """
    if 1.8 <= factor <= 2.2:
        return "has about doubled"
    if 0.45 <= factor <= 0.55:
        return "has about halved"
    if factor > 2.2:
        return f"has risen to about {times_text(factor)} what it was"
    tens = max(round(10 * abs(factor - 1)), 1)
    return f"has {'risen' if factor > 1 else 'fallen'} by about {10 * tens}%"


def _odds(odds: float, what: str = "") -> str:
    """Of the likelier one.

    Examples
    --------
    >>> _odds(1.2), _odds(1.6, " for the first"), _odds(3.2, " against it")
    ('about even chances', 'about 3 to 2 for the first', 'about 3 to 1 against it')
    """
    if odds < _EVEN:
        return "about even chances"
    return f"about {'3 to 2' if odds < 1.75 else f'{round(odds)} to 1'}{what}"


def _in_ten(chance: float) -> str:
    return f"about {min(max(round(10 * chance), 1), 9)} in 10"


def _joined(parts: Sequence[str], last: str = "and", between: str = ",") -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{f'{between} '.join(parts[:-1])} {last} {parts[-1]}"


def _of_prior(sure: Collection[str], found: Sequence[Explanation], level: float) -> str:
    """That the class prior has not changed where other things have, or what would tell."""
    of_prior = [one for one in found if "class prior" in one.changed]
    if not of_prior:
        moved = sure or found[0].changed
        return " The share of positives seems to be what it was." if moved else ""
    if "class prior" in sure:
        return ""
    factor = _factors(of_prior)["class prior"]
    cases = cases_to_distinguish(level, min(level * factor, _MOST))
    return f" A review of about {cases:,} random cases would show how many are positive now."
