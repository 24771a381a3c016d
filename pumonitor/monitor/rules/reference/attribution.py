"""Attribute the change of an estimate to the class prior and to the ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain
from pumonitor.stats.confidence_draws import interval, split_normal_logit_draws

_DRAWS: Final = 10_000
_LEAST: Final = 1e-9


_AT_ONE_PRIOR: Final[Mapping[str, Callable[..., FloatArray]]] = {
    "class_prior": lambda prior: prior,
    "auc": lambda prior, aul: (aul - 0.5 * prior) / (1 - prior),
    "precision": lambda prior, recall, flagged: prior * recall / flagged,
    "f1": lambda prior, recall, flagged: 2 * prior * recall / (prior + flagged),
}
"""Estimate to its formula in terms of the class prior and estimates that do not depend on it."""


def at_prior(name: str, parts: Mapping[str, float]) -> float | None:
    """Compute an estimate from the estimates it `stands_on`; None if it is undefined.

    Examples
    --------
    >>> round(at_prior("auc", {"class_prior": 0.1, "aul": 0.86}), 6)
    0.9
    """
    prior, *rest = (parts[one] for one in stands_on(name))
    if not _LEAST <= prior <= 1 - _LEAST or min(rest[-1:], default=prior) < _LEAST:
        return None
    return float(_AT_ONE_PRIOR[name](prior, *rest))


def difference_at_one_prior(
    name: str,
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    times: float = 1.0,
    moved: Known | None = None,
) -> Uncertain | None:
    """`now - times before` of an estimate, when both are computed from one class prior.

    The error of a common class prior is the same before and now, so most of it cancels in the
    difference. Computed without random draws, as it is needed for every window.

    Parameters
    ----------
    name : str
    now, before : mapping of str to estimates
        All estimates that `name` `stands_on`; apart from the prior they come from independent rows.
    times : float
    moved : estimate, optional
        Ratio of the prior now to that before, when the prior is followed. By default the prior was
        given once and is the same.

    Returns
    -------
    Uncertain or None
        None if the two priors differ, if the estimate is undefined, and for estimates other than
        class prior, AUC, precision and F1.

    Notes
    -----
    Each end of the interval adds, in squares, the effect of each estimate's own end. An end of the
    prior moves both terms at once; an end of `moved` moves only the present one.

    References
    ----------
    Zou, Donner (2008), Construction of confidence limits about effect measures, equation 4.

    Examples
    --------
    >>> from types import SimpleNamespace as Known
    >>> prior = Known(value=0.10, low=0.05, high=0.15)
    >>> before = {"aul": Known(value=0.83, low=0.82, high=0.84), "class_prior": prior}
    >>> now = {"aul": Known(value=0.79, low=0.78, high=0.80), "class_prior": prior}
    >>> change = difference_at_one_prior("auc", now, before)
    >>> round(change.value, 3), round(change.low, 3), round(change.high, 3)
    (-0.044, -0.06, -0.029)
    """
    names = stands_on(name)
    if not names or any(one not in known for one in names for known in (now, before)):
        return None
    level = before["class_prior"]
    if moved is None and not _is_same(now["class_prior"], level):
        return None
    today, then = ({one: known[one].value for one in names} for known in (now, before))
    if moved is not None:
        today["class_prior"] = moved.value * level.value
    at_now, at_then = at_prior(name, today), at_prior(name, then)
    if at_now is None or at_then is None:
        return None

    def held(parts: dict[str, float], changed: dict[str, float], at: float) -> float:
        # Clip to [0, 1], the range of rates, unless the value itself is outside.
        return min(max(_within_domain(name, parts | changed), min(at, 0.0)), max(at, 1.0))

    def change(changed: dict[str, float], changed_then: dict[str, float]) -> float:
        return held(today, changed, at_now) - times * held(then, changed_then, at_then)

    value = change({}, {})
    ends: list[list[float]] = []
    for one in names:
        if one == "class_prior":
            # An error of the prior's level changes both terms.
            ratios = [end / level.value for end in (level.low, level.high)]
            ends.append(
                [change({one: today[one] * ratio}, {one: then[one] * ratio}) for ratio in ratios]
            )
            if moved is not None:
                ends.append(
                    [change({one: end * level.value}, {}) for end in (moved.low, moved.high)]
                )
        else:
            ends.append([change({one: end}, {}) for end in (now[one].low, now[one].high)])
            ends.append([change({}, {one: end}) for end in (before[one].low, before[one].high)])
    low = value - math.hypot(*(min(*(end - value for end in pair), 0.0) for pair in ends))
    high = value + math.hypot(*(max(*(end - value for end in pair), 0.0) for pair in ends))
    reach = float(special.ndtri(0.975))
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * reach))


def _within_domain(name: str, parts: Mapping[str, float]) -> float:
    held = (min(max(parts[one], _LEAST), 1 - _LEAST) for one in stands_on(name))
    return float(_AT_ONE_PRIOR[name](*held))


def attribute_aul(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    each: Mapping[str, FloatArray] | None = None,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """Split the change of AUL into the part of the class prior and the part of the ranking.

    AUL = pi / 2 + (1 - pi) AUC falls when the class prior rises, even if the ranking is unchanged.

    Parameters
    ----------
    now, before : mapping of str to estimates
        "aul" and "class_prior", from independent rows. If `now` has PRIOR_FACTOR, its class prior
        is that factor times the one before, and the two share their error.
    each : mapping of str to ndarray of shape (windows,), optional
        The estimates of every window of the reference whose means are `before`. The change is then
        taken from the mean of the windows' AUL, which can differ from the AUL of the means.
    confidence_level : float
    rng : int or numpy Generator
        Seed of the intervals' draws.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking", which add up to the change of AUL.

    Notes
    -----
    d AUL = (1/2 - mean AUC) d pi + (1 - mean pi) d AUC, with means over before and now, and
    AUC = (AUL - pi / 2) / (1 - pi). The intervals come from draws of AUL and class prior of both,
    each from its own interval.

    References
    ----------
    "AUL is a better optimization metric in PU learning", equation 4.

    Examples
    --------
    >>> from types import SimpleNamespace as Known
    >>> before = {"aul": Known(value=0.83, low=0.82, high=0.84),
    ...           "class_prior": Known(value=0.10, low=0.08, high=0.12)}
    >>> now = {"aul": Known(value=0.79, low=0.78, high=0.80),
    ...        "class_prior": Known(value=0.20, low=0.17, high=0.23)}
    >>> parts = attribute_aul(now, before)
    >>> round(parts["prior"].value, 4), round(parts["ranking"].value, 4)
    (-0.0365, -0.0035)
    """

    def aul(prior: FloatArray, auc: FloatArray) -> FloatArray:
        return 0.5 * prior + (1 - prior) * auc

    def causes(aul: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        return prior, (aul - 0.5 * prior) / (1 - prior)

    return _attributed(
        aul,
        causes,
        ("aul", "class_prior"),
        now,
        before,
        each=each,
        confidence_level=confidence_level,
        rng=rng,
    )


def attribute_f1(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    each: Mapping[str, FloatArray] | None = None,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """Split the change of F1 into the part of the class prior and that of recall and FPR.

    F1 rises with the class prior, even if recall and false positive rate are unchanged.

    Parameters
    ----------
    now, before : mapping of str to estimates
        "class_prior", "recall" and "predicted_positive_rate", from independent rows.
    each, confidence_level, rng
        As in `attribute_aul`.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking" (recall and FPR at the threshold), which add up to the change of
        F1 = 2 pi TPR / (pi + theta), theta = pi TPR + (1 - pi) FPR.

    Notes
    -----
    Each part is the mean of two changes of F1: with the other factor as before, and as now. That is
    the Shapley value for two factors; the split of AUL is one too.
    """

    def f1(prior: FloatArray, rates: FloatArray) -> FloatArray:
        recall, false_positive_rate = rates
        flagged = prior * recall + (1 - prior) * false_positive_rate
        return np.asarray(2 * prior * recall / (prior + flagged))

    def causes(
        prior: FloatArray, recall: FloatArray, flagged: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        return prior, np.stack([recall, (flagged - prior * recall) / (1 - prior)])

    return _attributed(
        f1,
        causes,
        ("class_prior", "recall", "predicted_positive_rate"),
        now,
        before,
        each=each,
        confidence_level=confidence_level,
        rng=rng,
    )


def _attributed(
    metric: Callable[[FloatArray, FloatArray], FloatArray],
    causes: Callable[..., tuple[FloatArray, FloatArray]],
    names: tuple[str, ...],
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    each: Mapping[str, FloatArray] | None,
    confidence_level: float,
    rng: int | np.random.Generator,
) -> dict[str, Uncertain]:
    """The two parts of a change, with intervals from draws of the estimates.

    The first entry of each array of draws is the estimate itself.
    """
    generator = np.random.default_rng(rng)

    def parts(
        then: list[FloatArray], today: list[FloatArray], held: Callable[[FloatArray], FloatArray]
    ) -> dict[str, FloatArray]:
        prior_then, rates_then = causes(*then)
        prior_now, rates_now = causes(*today)
        rates_then, rates_now = held(rates_then), held(rates_now)
        at_then, at_now = metric(prior_then, rates_then), metric(prior_now, rates_now)
        # Only the prior changed; only the rates changed.
        by_prior, by_rates = metric(prior_now, rates_then), metric(prior_then, rates_now)
        return {
            "prior": 0.5 * ((by_prior - at_then) + (at_now - by_rates)),
            "ranking": 0.5 * ((by_rates - at_then) + (at_now - by_prior)),
        }

    drawn = parts(*_drawn_pairs(now, before, names, confidence_level, generator), _within_reach)
    found = {name: _change(part, confidence_level) for name, part in drawn.items()}
    if each is None:
        return found
    then = [_divisible(name, each[name]) for name in names]
    today = [_divisible(name, np.full(len(each[name]), now[name].value)) for name in names]
    from_each = parts(then, today, lambda rates: rates)
    return {name: _moved_to(one, float(np.mean(from_each[name]))) for name, one in found.items()}


def _divisible(name: str, values: FloatArray) -> FloatArray:
    """Clip shares that the formulas divide by away from 0 and 1."""
    divided_by = name in ("class_prior", "predicted_positive_rate")
    return np.clip(values, _LEAST, 1 - _LEAST) if divided_by else values


def _moved_to(number: Uncertain, value: float) -> Uncertain:
    off = value - number.value
    return Uncertain(value=value, low=number.low + off, high=number.high + off, se=number.se)


def _drawn_pairs(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    names: tuple[str, ...],
    confidence_level: float,
    generator: np.random.Generator,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Draws of the estimates before and now. A prior that was given has the same draws in both."""

    def drawn(known: Known) -> FloatArray:
        draws = split_normal_logit_draws(
            known.value,
            known.low,
            known.high,
            confidence_level=confidence_level,
            order=generator.permutation(_DRAWS),
        )
        # Some shares are divided by, so none may be exactly 0 or 1.
        return np.concatenate([[known.value], np.clip(draws, _LEAST, 1 - _LEAST)])

    then = [drawn(before[name]) for name in names]
    today = []
    for name, past in zip(names, then, strict=True):
        if name == "class_prior" and PRIOR_FACTOR in now:
            factor = _drawn_factor(now[PRIOR_FACTOR], confidence_level, generator)
            today.append(np.clip(past * factor, _LEAST, 1 - _LEAST))
        elif name == "class_prior" and _is_same(now[name], before[name]):
            today.append(past)
        else:
            today.append(drawn(now[name]))
    return then, today


def _drawn_factor(
    factor: Known, confidence_level: float, generator: np.random.Generator
) -> FloatArray:
    """Draws of a factor: its log is half normal on each side. The first entry is the value."""
    reach = float(special.ndtri(0.5 + 0.5 * confidence_level))
    normal = generator.normal(size=_DRAWS)
    below, above = math.log(factor.value / factor.low), math.log(factor.high / factor.value)
    draws = factor.value * np.exp(normal * np.where(normal < 0, below, above) / reach)
    return np.concatenate([[factor.value], draws])


def _is_same(now: Known, before: Known) -> bool:
    """Whether both are the same given number; two estimates never agree to the last digit."""
    return (now.value, now.low, now.high) == (before.value, before.low, before.high)


def _within_reach(rate: FloatArray) -> FloatArray:
    """Clip draws of a rate to [0, 1]; the first entry, the estimate, is left as it is."""
    held = np.clip(rate, 0.0, 1.0)
    held[..., 0] = rate[..., 0]
    return held


def _change(part: FloatArray, confidence_level: float) -> Uncertain:
    value = float(part[0])
    low, high = interval(part[1:], confidence_level=confidence_level)
    return Uncertain(
        value=value, low=min(low, value), high=max(high, value), se=float(np.std(part[1:]))
    )
