"""The grid that the class prior is followed on: levels of the reference times moves since."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.over_time.changes import PACES, drift, jump

__all__ = ["MOVES", "UNMOVED", "class_priors", "drifts", "jumps"]

FloatArray = NDArray[np.float64]

_STEP: Final = 0.12
UNMOVED: Final = 20
MOVES: Final = _STEP * np.arange(-UNMOVED, UNMOVED + 1)
"""How far logit pi may be from the reference's; 0 at `UNMOVED`."""
_PRIOR_JUMP: Final = 0.7


def class_priors(level: FloatArray) -> FloatArray:
    """In each point, of shape (levels, moves), of these class priors of the reference."""
    return np.asarray(special.expit(special.logit(level)[:, np.newaxis] + MOVES))


@lru_cache(maxsize=len(PACES))
def drifts(pace: int) -> FloatArray:
    """Chances to go from one move to another while nothing jumps."""
    return drift(len(MOVES), _STEP, PACES[pace].prior)


@lru_cache(maxsize=1)
def jumps() -> FloatArray:
    """The same where the class prior jumps."""
    return jump(len(MOVES), _STEP, deviation=_PRIOR_JUMP)
