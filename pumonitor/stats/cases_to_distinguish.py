"""How many cases to look up to tell two shares apart."""

from __future__ import annotations

import math


def cases_to_distinguish(share: float, other: float) -> int:
    """How many random cases to look up to tell two shares apart, rounded up to two digits.

    A test at 5%, two-sided, of the one sees the other with a chance of .9 (normal approximation;
    too few where either share times the cases is below five).

    Parameters
    ----------
    share, other : float
        Between 0 and 1, and not the same.

    Examples
    --------
    >>> [cases_to_distinguish(*pair) for pair in ((0.05, 0.10), (0.03, 0.015), (0.4, 0.8))]
    [270, 1100, 14]
    """
    if not (0 < share < 1 and 0 < other < 1 and share != other):
        msg = f"two shares must satisfy 0 < share < 1 and differ, got {share} and {other}"
        raise ValueError(msg)
    spread = 1.96 * math.sqrt(share * (1 - share)) + 1.28 * math.sqrt(other * (1 - other))
    cases = (spread / (other - share)) ** 2
    unit = 10 ** max(math.floor(math.log10(cases)) - 1, 0)
    return int(math.ceil(cases / unit) * unit)
