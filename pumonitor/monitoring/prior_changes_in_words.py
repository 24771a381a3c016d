"""What has changed since a class prior is followed, as far as it can be told, in sentences."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pumonitor.stats.audited_share import cases_to_tell

__all__ = ["prior_changes"]

_SURE: Final = 0.9
_CALM: Final = 0.8
_EVEN: Final = 1.3
_MOST: Final = 0.95
_SINCE_REFERENCE: Final = {
    "class prior": "class_prior",
    "label frequency": "label_frequency",
    "ranking": "ranking",
    "negatives": "negatives",
}
"""Names in explanations to those in "since_reference", in the order in which they are told."""

_SUBJECT: Final = {
    "class prior": "the share of positives",
    "label frequency": "the share of positives that gets confirmed",
}
_OF_THEM: Final = "the share of them that gets confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Possible:
    """What may have changed together, beside what surely has.

    Attributes
    ----------
    changed : tuple of str
    chance : float
    factors : mapping of str to float
        Now over then, of those that have one.
    """

    changed: tuple[str, ...]
    chance: float
    factors: Mapping[str, float]

    def told(self) -> str:
        return _joined([_clause(name, self.factors.get(name, 1.0)) for name in self.changed])


def prior_changes(over_time: Mapping[str, Any]) -> str | None:
    """What has changed since the windows that it was founded on, and what cannot be told of that.

    Where several explanations fit, all of them are said with their chances, and how many cases one
    has to look up if that would tell.

    Parameters
    ----------
    over_time : mapping
        Of the diagnostics of a class prior that is followed
        (`pumonitor.monitoring.followed_prior.FollowedPrior.estimate`).

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
    Nothing seems to have moved since the first 13 windows.
    >>> print(prior_changes(followed(
    ...     [({"class prior": 2.1}, 0.45), ({"label frequency": 1.9}, 0.43)],
    ...     class_prior=0.5, label_frequency=0.48)))
    Since the first 13 windows either the share of positives or the share of them that gets
    confirmed has about doubled: scores and confirmations cannot tell which (about even chances). A
    review of about 230 random cases would tell how many are positive now.
    """
    if over_time["moved"] is None:
        return None
    since = f"since the first {over_time['level']['windows']} windows"
    found = over_time["explanations"]
    if not found:
        return f"What has moved {since} cannot be told: too many explanations fit."
    sure = _sure(over_time)
    possible = _beside(sure, found)
    said = _told(_sure_told(sure, over_time), possible, since)
    return f"{said[:1].upper()}{said[1:]}.{_review(possible, over_time['level']['value'])}"


# -- which ------------------------------------------------------------------------------------


def _sure(over_time: Mapping[str, Any]) -> list[str]:
    """What is in some explanation, and has changed whichever is right."""
    found = over_time["explanations"]
    moved = over_time["since_reference"]
    chances = {name: moved[stored]["chance"] for name, stored in _SINCE_REFERENCE.items()}
    # Negatives are named where the ranking has not changed alone.
    chances["negatives"] = sum(one["chance"] for one in found if "negatives" in one["changed"])
    return [
        name
        for name, chance in chances.items()
        if chance >= _SURE and any(name in one["changed"] for one in found)
    ]


def _beside(sure: Collection[str], found: Sequence[Mapping[str, Any]]) -> list[_Possible]:
    """Explanations without what is sure, each once, the likeliest first."""
    alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in found:
        left = tuple(
            name for name in _SINCE_REFERENCE if name in one["changed"] and name not in sure
        )
        alike.setdefault(left, []).append(one)
    possible = [
        _Possible(changed=left, chance=sum(one["chance"] for one in some), factors=_factors(some))
        for left, some in alike.items()
    ]
    return sorted(possible, key=lambda one: -one.chance)


def _factors(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Geometric means over explanations."""
    names = {name for one in found for name in one["factors"]}
    means = {}
    for name in names:
        some = [one for one in found if name in one["factors"]]
        total = sum(one["chance"] for one in some)
        added = sum(one["chance"] * math.log(max(one["factors"][name], 1e-9)) for one in some)
        means[name] = math.exp(added / total)
    return means


# -- in words ---------------------------------------------------------------------------------


def _sure_told(sure: Sequence[str], over_time: Mapping[str, Any]) -> str:
    factors = _factors(over_time["explanations"])
    return _joined([_clause(name, factors.get(name, 1.0)) for name in sure])


def _told(sure: str, possible: Sequence[_Possible], since: str) -> str:
    first, rest = possible[0], possible[1:]
    nothing = [one for one in possible if not one.changed]
    if not rest:
        return _one(sure, first, since)
    if len(possible) == 2 and nothing:
        changed = first if first.changed else rest[0]
        return _perhaps(sure, changed, changed.chance / nothing[0].chance, since)
    if len(possible) == 2:
        which = f"{_either(first, rest[0])}: scores and confirmations cannot tell which"
        odds = _odds(first.chance / rest[0].chance, " for the first")
        return f"{since} {f'{sure}, and ' if sure else ''}{which} ({odds})"
    if nothing and sure:
        return f"{since} {sure}; whether {_marginals(possible)} as well cannot be told"
    each = [
        f"{one.told() or ('nothing else' if sure else 'nothing has moved')} ({_in_ten(one.chance)})"
        for one in possible
    ]
    which = f"{since} {sure}, and which of these is so" if sure else f"which of these is so {since}"
    return f"{which} cannot be told: {_joined(each, 'or', ';')}"


def _one(sure: str, only: _Possible, since: str) -> str:
    chance = _in_ten(only.chance)
    if only.changed and sure:
        return f"{since} {sure}; probably {only.told()} as well ({chance})"
    if only.changed:
        return f"probably {only.told()} {since} ({chance})"
    if sure:
        return f"{since} {sure}"
    if only.chance >= _CALM:
        return f"nothing seems to have moved {since}"
    return f"probably nothing has moved {since} ({chance})"


def _perhaps(sure: str, changed: _Possible, odds: float, since: str) -> str:
    """Whether it has changed or not, at odds for it."""
    told = changed.told()
    if max(odds, 1 / odds) < _EVEN:
        if sure:
            return f"{since} {sure}; whether {told} as well cannot be told ({_odds(1, '')})"
        return f"whether {told} {since} cannot be told ({_odds(1, '')})"
    if odds > 1:
        if sure:
            return f"{since} {sure}; probably {told} as well ({_odds(odds, '')})"
        return f"probably {told} {since} ({_odds(odds, '')})"
    against = _odds(1 / odds, " against it")
    if sure:
        return f"{since} {sure}; that {told} as well cannot be ruled out ({against})"
    return f"probably nothing has moved {since}; that {told} cannot be ruled out ({against})"


def _either(first: _Possible, second: _Possible) -> str:
    """Two that exclude each other."""
    if {first.changed, second.changed} == {("class prior",), ("label frequency",)}:
        (one,), (other,) = first.changed, second.changed
        verb = _verb(first.factors.get(one, 1.0))
        if verb == _verb(second.factors.get(other, 1.0)):
            subjects = {**_SUBJECT, other: _OF_THEM} if one == "class prior" else _SUBJECT
            return f"either {subjects[one]} or {subjects[other]} {verb}"
    return f"either {first.told()} or {second.told()}"


def _marginals(possible: Sequence[_Possible]) -> str:
    total = sum(one.chance for one in possible)
    chances: dict[str, float] = {}
    for name in _SINCE_REFERENCE:
        some = [one for one in possible if name in one.changed]
        if some:
            factors = _factors([{"chance": one.chance, "factors": one.factors} for one in some])
            chance = sum(one.chance for one in some) / total
            chances[f"{_clause(name, factors.get(name, 1.0))} ({_in_ten(chance)})"] = chance
    return _joined(sorted(chances, key=lambda one: -chances[one]), "or")


def _clause(name: str, factor: float) -> str:
    if name == "ranking":
        return f"the ranking has become {'worse' if factor < 1 else 'better'}"
    if name == "negatives":
        return "the scores of the other cases have moved"
    return f"{_SUBJECT[name]} {_verb(factor)}"


def _verb(factor: float) -> str:
    """What a share has done.

    Examples
    --------
    >>> _verb(2.1), _verb(1.43), _verb(3.6), _verb(0.48), _verb(0.7), _verb(0.2)
    ('has about doubled', 'has risen by about 40%', 'has risen to about 3.6 times',
     'has about halved', 'has fallen by about 30%', 'has fallen by about 80%')
    """
    if 1.8 <= factor <= 2.2:
        return "has about doubled"
    if 0.45 <= factor <= 0.55:
        return "has about halved"
    if factor > 2.2:
        return f"has risen to about {factor:.2g} times"
    tens = max(round(10 * abs(factor - 1)), 1)
    return f"has {'risen' if factor > 1 else 'fallen'} by about {10 * tens}%"


def _odds(odds: float, what: str) -> str:
    """Of the likelier one.

    Examples
    --------
    >>> _odds(1.2, " for the first"), _odds(1.6, " for the first"), _odds(3.2, " against it")
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


def _review(possible: Sequence[_Possible], level: float) -> str:
    """How many cases to look up where that tells explanations apart."""
    of_prior = [one for one in possible if "class prior" in one.changed]
    if len(of_prior) in (0, len(possible)):
        return ""
    factor = _factors([{"chance": one.chance, "factors": one.factors} for one in of_prior]).get(
        "class prior", 1.0
    )
    cases = cases_to_tell(level, min(level * factor, _MOST))
    return f" A review of about {cases:,} random cases would tell how many are positive now."
