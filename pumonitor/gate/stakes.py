"""Shares of the capital that are bet, and what intervals are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray

_SMALL: Final = np.geomspace(0.002, 0.02, 8)
_LARGE: Final = np.linspace(0.03, 0.98, 48)
STAKES: Final = np.concatenate([_SMALL, _LARGE])
"""What is risked on each difference; small ones are for very many of them."""
_LOG_PRIOR: Final = np.log(
    np.concatenate(
        [np.full(len(_SMALL), 0.1 / len(_SMALL)), np.full(len(_LARGE), 0.9 / len(_LARGE))]
    )
)
_BISECTIONS: Final = 45


def averaged(log_capitals: FloatArray) -> FloatArray:
    """Logarithm of the average capital over the stakes, which are the last axis."""
    return np.asarray(np.logaddexp.reduce(log_capitals + _LOG_PRIOR, axis=-1))


def lower_end(
    log_capital: Callable[[float], float], *, lowest: float, inside: float, error: float
) -> float:
    """The largest value that bets have refuted, between the lowest there is and one inside."""
    low, high, enough = lowest, inside, -np.log(error)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if log_capital(middle) >= enough:
            low = middle
        else:
            high = middle
    return low
