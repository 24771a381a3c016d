"""Why an estimate changed: other positives in the world, or a model that does worse on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitoring.uncertain import Known, Uncertain
from pumonitor.stats.confidence_draws import interval, split_normal_logit_draws

__all__ = [
    "attribute_aul",
    "attribute_f1",
    "change_at_one_prior",
    "difference",
    "difference_at_one_prior",
    "stands_on",
]

FloatArray = NDArray[np.float64]

_DRAWS: Final = 10_000
_LEAST: Final = 1e-9


def difference(now: Known, before: Known, *, confidence_level: float = 0.95) -> Uncertain:
    """The change between two estimates from independent rows.

    Too wide where both have an error in common, as estimates of the class prior by one method do;
    `difference_at_one_prior` is for a prior that was given.

    Notes
    -----
    Each end of the interval is as far from the change as the two estimates' own ends together, in
    squares: for symmetrical intervals the usual one.

    References
    ----------
    Zou, Donner (2008), Construction of confidence limits about effect measures, equation 4.

    Examples
    --------
    >>> from pumonitor.results import ClassPriorEstimate
    >>> before = ClassPriorEstimate.given((0.10, 0.08, 0.13))
    >>> now = ClassPriorEstimate.given((0.20, 0.16, 0.24))
    >>> change = difference(now, before)
    >>> round(change.value, 3), round(change.low, 3), round(change.high, 3)
    (0.1, 0.05, 0.145)
    """
    value = now.value - before.value
    low = value - math.hypot(now.value - now.low, before.high - before.value)
    high = value + math.hypot(now.high - now.value, before.value - before.low)
    reach = float(special.ndtri(0.5 + 0.5 * confidence_level))
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * reach))


_AT_ONE_PRIOR: Final[Mapping[str, tuple[tuple[str, ...], Callable[..., FloatArray]]]] = {
    "class_prior": (("class_prior",), lambda prior: prior),
    "auc": (("class_prior", "aul"), lambda prior, aul: (aul - 0.5 * prior) / (1 - prior)),
    "precision": (
        ("class_prior", "recall", "predicted_positive_rate"),
        lambda prior, recall, flagged: prior * recall / flagged,
    ),
    "f1": (
        ("class_prior", "recall", "predicted_positive_rate"),
        lambda prior, recall, flagged: 2 * prior * recall / (prior + flagged),
    ),
}
"""Estimates as functions of the class prior and of what the rows say without it."""


def change_at_one_prior(
    name: str,
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Uncertain | None:
    """The change of an estimate where both stand on one class prior that was given.

    Its uncertainty is the same before and now, and most of it is not in the difference.

    Parameters
    ----------
    name : str
    now, before : mapping of str to estimates
        From independent rows but for the prior.
    confidence_level, rng
        As in `attribute_aul`.

    Returns
    -------
    Uncertain or None
        None where the priors are two, or for estimates other than class prior, AUC, precision
        and F1.

    Examples
    --------
    >>> from types import SimpleNamespace as Known
    >>> prior = Known(value=0.10, low=0.05, high=0.15)
    >>> before = {"aul": Known(value=0.83, low=0.82, high=0.84), "class_prior": prior}
    >>> now = {"aul": Known(value=0.79, low=0.78, high=0.80), "class_prior": prior}
    >>> change = change_at_one_prior("auc", now, before)
    >>> round(change.value, 3), change.high - change.low < 0.04
    (-0.044, True)
    """
    if name not in _AT_ONE_PRIOR or not _is_same(now["class_prior"], before["class_prior"]):
        return None
    names, estimate = _AT_ONE_PRIOR[name]
    if any(one not in known for one in names for known in (now, before)):
        return None
    generator = np.random.default_rng(rng)
    then, today = _drawn_pairs(now, before, names, confidence_level, generator)
    return _change(
        _within_reach(estimate(*today)) - _within_reach(estimate(*then)), confidence_level
    )


def stands_on(name: str) -> tuple[str, ...]:
    """Estimates that another is a function of, if the class prior is one; none for others.

    Examples
    --------
    >>> stands_on("auc"), stands_on("recall")
    (('class_prior', 'aul'), ())
    """
    return _AT_ONE_PRIOR[name][0] if name in _AT_ONE_PRIOR else ()


def difference_at_one_prior(
    name: str, now: Mapping[str, Known], before: Mapping[str, Known], *, times: float = 1.0
) -> Uncertain | None:
    """`now - times before` of an estimate where both stand on one class prior that was given.

    Without draws, for whoever asks of every window again and again.

    Parameters
    ----------
    name : str
    now, before : mapping of str to estimates
        With all that it `stands_on`, from independent rows but for the prior.
    times : float

    Returns
    -------
    Uncertain or None
        None as in `change_at_one_prior`, and where the estimate is undefined.

    Notes
    -----
    As in `difference`, each end is as far off as what each estimate's own end makes of it, in
    squares; the prior's ends are those of both at once.

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
    if not _is_same(now["class_prior"], before["class_prior"]):
        return None
    estimate = _AT_ONE_PRIOR[name][1]
    today, then = ([known[one].value for one in names] for known in (now, before))
    least, most = _LEAST, 1 - _LEAST
    if not least <= today[0] <= most or min(today[-1], then[-1]) < least:
        return None
    at_values = float(estimate(*today)), float(estimate(*then))

    def change(*numbers: list[float]) -> float:
        # Held to [0, 1], where rates are, unless the value itself is beyond.
        found, earlier = (
            min(max(float(estimate(*some)), min(at, 0.0)), max(at, 1.0))
            for some, at in zip(numbers, at_values, strict=True)
        )
        return found - times * earlier

    value = change(today, then)
    below, above = [], []
    for at, one in enumerate(names):
        # The prior is the same number in both.
        sides = ((True, True),) if at == 0 else ((True, False), (False, True))
        for of_now, of_then in sides:
            known = now[one] if of_now else before[one]
            moved = []
            for end in (known.low, known.high):
                held = min(max(end, least), most)
                moved.append(
                    change(
                        [*today[:at], held, *today[at + 1 :]] if of_now else today,
                        [*then[:at], held, *then[at + 1 :]] if of_then else then,
                    )
                    - value
                )
            below.append(min(*moved, 0.0))
            above.append(max(*moved, 0.0))
    low, high = value - math.hypot(*below), value + math.hypot(*above)
    reach = float(special.ndtri(0.975))
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * reach))


def attribute_aul(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """How much of AUL's change comes from the class prior, and how much from the ranking.

    AUL = pi / 2 + (1 - pi) AUC falls when the prior rises, though the model ranks as well as ever.

    Parameters
    ----------
    now, before : mapping of str to estimates
        With "aul" and "class_prior", from independent rows.
    confidence_level : float
    rng : int or numpy Generator
        Seed of the intervals' draws.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking", which add up to the change of AUL.

    Notes
    -----
    With the means of both windows, marked by bars, (1/2 - mean AUC) d pi + (1 - mean pi) d AUC.
    AUC is the one that goes with AUL and the prior, (AUL - pi / 2) / (1 - pi). Draws of both
    windows' AUL and prior, each from its own interval.

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
        return prior, _within_reach((aul - 0.5 * prior) / (1 - prior))

    return _attributed(
        aul,
        causes,
        ("aul", "class_prior"),
        now,
        before,
        confidence_level=confidence_level,
        rng=rng,
    )


def attribute_f1(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    *,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> dict[str, Uncertain]:
    """How much of F1's change comes from the class prior, and how much from recall and FPR.

    F1 rises with the prior, though the model finds the same share of the positives and flags the
    same share of the negatives.

    Parameters
    ----------
    now, before : mapping of str to estimates
        With "class_prior", "recall" and "predicted_positive_rate", from independent rows.
    confidence_level, rng
        As in `attribute_aul`.

    Returns
    -------
    dict of str to Uncertain
        "prior" and "ranking" (of the scores against the threshold), which add up to the change of
        F1 = 2 pi TPR / (pi + theta), theta = pi TPR + (1 - pi) FPR.

    Notes
    -----
    Each part is the mean of the changes that its cause makes with the other as before and as now
    (Shapley's value for two causes, as is the split of AUL).
    """

    def f1(prior: FloatArray, rates: FloatArray) -> FloatArray:
        recall, false_positive_rate = rates
        flagged = prior * recall + (1 - prior) * false_positive_rate
        return np.asarray(2 * prior * recall / (prior + flagged))

    def causes(
        prior: FloatArray, recall: FloatArray, flagged: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        return prior, np.stack([recall, _within_reach((flagged - prior * recall) / (1 - prior))])

    return _attributed(
        f1,
        causes,
        ("class_prior", "recall", "predicted_positive_rate"),
        now,
        before,
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
    confidence_level: float,
    rng: int | np.random.Generator,
) -> dict[str, Uncertain]:
    """The two parts at the values, with intervals from draws of the estimates.

    The first entry of each array is the value itself.
    """
    generator = np.random.default_rng(rng)
    then, today = _drawn_pairs(now, before, names, confidence_level, generator)
    prior_then, rates_then = causes(*then)
    prior_now, rates_now = causes(*today)
    at_then, at_now = metric(prior_then, rates_then), metric(prior_now, rates_now)
    # The prior alone changed, and the rates alone.
    by_prior, by_rates = metric(prior_now, rates_then), metric(prior_then, rates_now)
    parts = {
        "prior": 0.5 * ((by_prior - at_then) + (at_now - by_rates)),
        "ranking": 0.5 * ((by_rates - at_then) + (at_now - by_prior)),
    }
    return {name: _change(part, confidence_level) for name, part in parts.items()}


def _drawn_pairs(
    now: Mapping[str, Known],
    before: Mapping[str, Known],
    names: tuple[str, ...],
    confidence_level: float,
    generator: np.random.Generator,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Draws of the estimates before and now; of a prior that was given, one for both."""

    def drawn(known: Known) -> FloatArray:
        draws = split_normal_logit_draws(
            known.value,
            known.low,
            known.high,
            confidence_level=confidence_level,
            size=_DRAWS,
            rng=generator,
        )
        # Shares are neither 0 nor 1 to the last digit, and some are divided by.
        return np.concatenate([[known.value], np.clip(draws, _LEAST, 1 - _LEAST)])

    then = [drawn(before[name]) for name in names]
    today = [
        past if name == "class_prior" and _is_same(now[name], before[name]) else drawn(now[name])
        for name, past in zip(names, then, strict=True)
    ]
    return then, today


def _is_same(now: Known, before: Known) -> bool:
    """Whether both are one number that was given: two estimates do not agree to the last digit."""
    return (now.value, now.low, now.high) == (before.value, before.low, before.high)


def _within_reach(rate: FloatArray) -> FloatArray:
    """Draws held to [0, 1], where rates are; the value, which comes first, as it is."""
    held = np.clip(rate, 0.0, 1.0)
    held[0] = rate[0]
    return held


def _change(part: FloatArray, confidence_level: float) -> Uncertain:
    value = float(part[0])
    low, high = interval(part[1:], confidence_level=confidence_level)
    return Uncertain(
        value=value, low=min(low, value), high=max(high, value), se=float(np.std(part[1:]))
    )
