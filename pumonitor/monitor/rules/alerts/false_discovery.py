"""Multiple tests over segments with a controlled false discovery rate."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from scipy import special

_Name = TypeVar("_Name", bound=Hashable)


def rejected(p_values: Mapping[_Name, float], *, rate: float) -> frozenset[_Name]:
    """Null hypotheses that the Benjamini-Hochberg procedure rejects.

    On average at most a share `rate` of the rejected hypotheses is true, if the p-values are
    independent or positively dependent. P-values of segments with a common class prior are
    positively dependent.

    Parameters
    ----------
    p_values : mapping of name to float
    rate : float
        False discovery rate, within (0, 1).

    Raises
    ------
    ValueError
        If ``rate`` or a p-value is out of range.

    References
    ----------
    Benjamini, Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> sorted(rejected({"DE": 0.001, "FR": 0.03, "IT": 0.04, "ES": 0.9}, rate=0.05))
    ['DE']
    >>> sorted(rejected({"DE": 0.001, "FR": 0.03, "IT": 0.03, "ES": 0.9}, rate=0.05))
    ['DE', 'FR', 'IT']
    """
    _check(rate)
    if any(not 0 <= p <= 1 for p in p_values.values()):
        msg = f"p-values must be within [0, 1], got {sorted(p_values.values())}"
        raise ValueError(msg)
    ordered = sorted(p_values.values())
    allowed: float | None = None
    for rank, p in enumerate(ordered, start=1):
        # Products compare exactly where quotients would be rounded.
        if p * len(ordered) <= rate * rank:
            allowed = p
    if allowed is None:
        return frozenset()
    return frozenset(name for name, p in p_values.items() if p <= allowed)


def e_benjamini_hochberg(e_values: Mapping[_Name, float], *, rate: float) -> frozenset[_Name]:
    """Null hypotheses that the e-BH procedure rejects. The e-values may be dependent in any way.

    References
    ----------
    Wang, Ramdas (2022), False discovery rate control with e-values.

    Examples
    --------
    >>> sorted(e_benjamini_hochberg({"DE": 90.0, "FR": 45.0, "IT": 3.0}, rate=0.05))
    ['DE', 'FR']
    """
    _check(rate)
    count = len(e_values)
    chosen: frozenset[_Name] = frozenset()
    for rank, e in enumerate(sorted(e_values.values(), reverse=True), start=1):
        if e * rank * rate >= count:
            chosen = frozenset(name for name, other in e_values.items() if other >= e)
    return chosen


def alarm_together(
    shares: Mapping[tuple[str, str], float], *, rate: float
) -> frozenset[tuple[str, str]]:
    """Series that e-BH selects, separately for each model version.

    Parameters
    ----------
    shares : mapping of (model version, segment) to float
        Statistic of each series over its limit, which is as many times that of a single series as
        there are series; infinite for one that alarms by itself.
    rate : float
    """
    chosen: frozenset[tuple[str, str]] = frozenset()
    for version in {series[0] for series in shares}:
        own = {series: share for series, share in shares.items() if series[0] == version}
        e_values = {series: share * len(own) / rate for series, share in own.items()}
        chosen |= e_benjamini_hochberg(e_values, rate=rate)
    return chosen


def one_sided_p_value(
    value: float, *, near_end: float, limit: float, reach: float, freedom: float = math.inf
) -> float:
    """P-value of the null hypothesis that the true value is on the good side of the limit.

    Parameters
    ----------
    value : float
        The estimate, on the bad side of the limit.
    near_end : float
        The end of its interval that is nearer to the limit.
    limit : float
    reach : float
        Standard errors from the estimate to that end: 1.96 for a 95% interval.
    freedom : float
        Degrees of freedom of the standard error.

    Examples
    --------
    >>> round(one_sided_p_value(0.7, near_end=0.8, limit=0.8, reach=1.96), 3)
    0.025
    """
    room = abs(near_end - value) / reach
    if room == 0:
        return 0.0
    return float(special.stdtr(freedom, -abs(limit - value) / room))


def _check(rate: float) -> None:
    if not 0 < rate < 1:
        msg = f"rate must satisfy 0 < rate < 1, got {rate}"
        raise ValueError(msg)
