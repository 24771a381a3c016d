"""The grid that the class prior is followed on: levels of the reference times moves since."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.changes import PACES, drift, jump

_STEP: Final = 0.12
UNMOVED: Final = 20
MOVES: Final = _STEP * np.arange(-UNMOVED, UNMOVED + 1)
"""How far logit pi may be from the reference's; 0 at `UNMOVED`."""
_PRIOR_JUMP: Final = 0.7
_POINT: Final = 1e-6


def class_priors(level: FloatArray) -> FloatArray:
    """In each point, of shape (levels, moves), of these class priors of the reference."""
    return np.asarray(special.expit(special.logit(level)[:, np.newaxis] + MOVES))


@lru_cache(maxsize=len(PACES))
def drifts(pace: int) -> FloatArray:
    """Chances to go from one move to another while nothing jumps."""
    return drift(len(MOVES), _STEP, PACES[pace].prior)


def from_reference(deviation: float) -> FloatArray:
    """Chances of moves from the class prior of the reference to the level that lasts."""
    if deviation == 0:
        return np.asarray(np.eye(len(MOVES))[UNMOVED])
    return np.asarray(drift(len(MOVES), _STEP, {deviation: 1.0})[UNMOVED])


@lru_cache(maxsize=1)
def jumps() -> FloatArray:
    """The same where the class prior jumps."""
    return jump(len(MOVES), _STEP, deviation=_PRIOR_JUMP)


def cells(level: FloatArray) -> FloatArray:
    """Ends of the cells around each point on the logit scale, of shape (2, levels, moves).

    Levels are a continuum of which the grid has some: each stands for what is nearer to it than to
    the next. What is known of moves is wide beside their step, or nothing has moved.
    """
    logit = special.logit(level)
    if len(logit) == 1:
        middles = logit + 0.5 * _STEP * np.array([-1.0, 1.0])
    else:
        between = 0.5 * (logit[1:] + logit[:-1])
        middles = np.concatenate(
            [[2 * logit[0] - between[0]], between, [2 * logit[-1] - between[-1]]]
        )
    return np.stack([middles[:-1, np.newaxis] + MOVES, middles[1:, np.newaxis] + MOVES])


def cells_of_moves(level: FloatArray) -> FloatArray:
    """Ends of log pi over the reference's, of shape (2, levels, moves).

    A move stands for what is nearer to it than to the next; what has not moved for itself.
    """
    half = np.full(len(MOVES), 0.5 * _STEP)
    half[UNMOVED] = _POINT
    logit = special.logit(level)[:, np.newaxis]
    ends = np.stack([logit + MOVES - half, logit + MOVES + half])
    return np.asarray(special.log_expit(ends) - np.log(level)[:, np.newaxis])


def quantiles_of_cells(ends: FloatArray, weight: FloatArray, shares: FloatArray) -> FloatArray:
    """Of weights, each spread evenly over its cell.

    Parameters
    ----------
    ends : ndarray of shape (2, cells)
    weight : ndarray of shape (cells,)
        Adding up to 1.
    shares : ndarray

    Examples
    --------
    >>> ends = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> quantiles_of_cells(ends, np.array([0.5, 0.5]), np.array([0.25, 0.5])).tolist()
    [1.0, 1.5]
    """
    density = weight / (ends[1] - ends[0])
    order = np.argsort(ends, axis=None, kind="stable")
    at = ends.ravel()[order]
    # The density rises where a cell begins, and falls where it ends.
    here = np.cumsum(np.concatenate([density, -density])[order])
    reached = np.concatenate([[0.0], np.cumsum(np.maximum(here[:-1], 0.0) * np.diff(at))])
    return np.asarray(np.interp(shares, reached / reached[-1], at))
