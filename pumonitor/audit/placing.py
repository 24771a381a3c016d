"""Where hidden positives lie inside score bins, along something else that is known of every row.

How many positives a score bin has is known by draws. Where they lie along another score, or along
the value of a row, the known ones among them tell, who are a fair sample of them. Why positives are
placed so: ``docs/decisions/reviews.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pumonitor._entities import draw_in_groups

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]

_ROUNDS: Final = 8
_STEPS: Final = 15
_STEEPEST: Final = 30.0
_NEXT_TO_NONE: Final = 1e-9
_CLOSE: Final = 1e-6


class Axis(NamedTuple):
    """Something that orders rows, in bins.

    Attributes
    ----------
    bin_of_cell : ndarray of shape (cells,)
    normal : ndarray of shape (cells,)
        Normal score of that bin.
    mean, sd : (float, float)
        What is believed of the slope of the log odds over it, and of their bend.
    turn : float
        Standard deviation of the change of that slope over one unit of a score bin's position.
    line_counts : float
        As many known positives of one of its bins the line counts as.
    """

    bin_of_cell: IndexArray
    normal: FloatArray
    mean: tuple[float, float]
    sd: tuple[float, float]
    turn: float = 0.0
    line_counts: float = 4.0


def place_hidden(
    drawn: FloatArray,
    silent: IntArray,
    *,
    known: IntArray,
    possible: IntArray,
    tells: NDArray[np.bool_],
    axes: Sequence[Axis],
    position: FloatArray,
    line_counts: float = 20.0,
    elsewhere: FloatArray | None = None,
    design_effect: float = 1.0,
    rng: np.random.Generator,
) -> Iterator[tuple[int, FloatArray]]:
    """Draw in which cells of each score bin its hidden positives are.

    Parameters
    ----------
    drawn : ndarray of shape (draws, bins)
        Hidden positives of each score bin.
    silent : ndarray of shape (bins, cells)
        Rows that may be one of them.
    known, possible : ndarray of shape (bins, cells)
        Known positives that are a fair sample of those of their score bin, and the rows that they
        are a sample of.
    tells : ndarray of bool of shape (bins,)
        Score bins whose known positives tell how the odds go along the axes.
    axes : sequence of Axis
    position : ndarray of shape (bins,)
        Of the score bins: what slopes may turn along.
    line_counts : float
        As many known positives of a cell inside a score bin the axes count as.
    elsewhere : ndarray of shape (bins,), optional
        How many hidden positives are expected among silent rows that are not of the possible ones.
    design_effect : float
        Known positives that tell as much as one along the axes, where they share entities; hidden
        ones of a cell come so many at a time.
    rng : numpy Generator

    Yields
    ------
    (int, ndarray of shape (draws, cells))
        A score bin with hidden positives, and how many are in which cell.
    """
    hidden_positives = drawn.mean(axis=0)
    if elsewhere is not None:
        hidden_positives = np.maximum(hidden_positives - elsewhere, 0)
    positives = hidden_positives + known.sum(axis=1)
    independent = known / design_effect
    odds, turns = _odds(
        independent[tells],
        possible[tells],
        positives[tells],
        axes,
        position[tells],
        len(drawn),
        rng,
    )
    for index, (hidden, known_here, silent_here) in enumerate(
        zip(drawn.T, independent, silent, strict=True)
    ):
        inside = np.flatnonzero(silent_here)
        number = np.clip(hidden, 0, silent_here.sum())
        if number.any():
            here = odds if turns is None else odds * np.exp(position[index] * turns)
            typical = here.mean(axis=0)
            rows = possible[index]
            chance = _chances_of_sum(typical, rows, positives[index : index + 1])[0]
            # Where positives are many the chance of a row is less than in proportion to its odds.
            fitted = here * (rows * chance / typical)
            fitted *= known_here.sum() / np.maximum(
                fitted.sum(axis=1, keepdims=True), _NEXT_TO_NONE
            )
            here = _departing(here, fitted, known_here, line_counts, rng)
            placed = np.zeros_like(here)
            placed[:, inside] = draw_hidden(
                number, here[:, inside], silent_here[inside], rng, group=design_effect
            )
            yield index, placed


def _odds(
    known: FloatArray,
    possible: IntArray,
    positives: FloatArray,
    axes: Sequence[Axis],
    position: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray | None]:
    """Draws of the odds that a row of a cell is positive, but for a factor of each score bin.

    A line with a bend over the normal score of each axis, from which every bin of an axis departs
    as far as its known positives say.

    Parameters
    ----------
    known, possible : ndarray of shape (bins, cells)
    positives : ndarray of shape (bins,)
        Known and hidden ones.
    axes : sequence of Axis
    position : ndarray of shape (bins,)

    Returns
    -------
    (ndarray of shape (draws, cells), ndarray of shape (draws, cells) or None)
        The odds where the position is 0, and how their logarithm changes over one unit of it.
    """
    along = np.stack([axis.normal**power for axis in axes for power in (1, 2)], axis=1)
    turning = [axis for axis in axes if axis.turn > 0]
    turned = [position[:, np.newaxis] * axis.normal for axis in turning]
    lines = np.broadcast_to(along, (len(position), *along.shape))
    heights = np.concatenate([lines, *(turn[..., np.newaxis] for turn in turned)], axis=2)
    mean = np.array([*(part for axis in axes for part in axis.mean), *(0.0 for _ in turning)])
    sd = np.array([*(part for axis in axes for part in axis.sd), *(axis.turn for axis in turning)])
    slopes, expected = _slope_draws(known, possible, positives, heights, mean, sd, draws, rng)
    odds = np.exp(np.clip(slopes[:, : along.shape[1]] @ along.T, -_STEEPEST, _STEEPEST))
    turns = None
    if turning:
        turns = slopes[:, along.shape[1] :] @ np.stack([axis.normal for axis in turning])
    for axis in axes:
        bin_of_cell = axis.bin_of_cell
        fitted, known_positives = (
            np.bincount(bin_of_cell, each).astype(float) for each in (expected, known.sum(axis=0))
        )
        ones = np.ones((draws, len(fitted)))
        departs = _departing(ones, fitted, known_positives, axis.line_counts, rng)[:, bin_of_cell]
        odds *= departs
        expected = expected * departs.mean(axis=0)
    return odds, turns


def _departing(
    odds: FloatArray,
    fitted: FloatArray,
    known: NDArray[Any],
    counts: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of the odds, given known positives where so many were fitted."""
    return np.asarray(odds * rng.standard_gamma(counts + known, odds.shape) / (counts + fitted))


def _slope_draws(
    known: FloatArray,
    possible: IntArray,
    positives: FloatArray,
    heights: FloatArray,
    mean: FloatArray,
    sd: FloatArray,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Draws of how the log odds of a positive rise along the axes inside a score bin.

    Parameters
    ----------
    known, possible : ndarray of shape (bins, cells)
    positives : ndarray of shape (bins,)
    heights : ndarray of shape (bins, cells, terms)
    mean, sd : ndarray of shape (terms,)
        What is believed of the slopes.

    Returns
    -------
    (ndarray of shape (draws, terms), ndarray of shape (cells,))
        The slopes, and how many known positives of each cell are expected by them.

    Notes
    -----
    Given how many positives of a bin are known, in which cells they are is multinomial, with
    chances in proportion to the positives of each. That has no term for how often they complain.
    With p the chance of a row and n the rows of a cell, a share moves with a slope by 1 - p times
    the height of the cell less the mean height of the bin, weighted by n p (1 - p), which keeps the
    positives of the bin; Fisher's scoring finds the highest point.
    """
    precision = sd**-2.0
    total = known.sum(axis=1)[:, np.newaxis]
    slope = mean.copy()
    for _ in range(_STEPS):
        odds = np.exp(np.clip(heights @ slope, -_STEEPEST, _STEEPEST))
        chance = _chances_of_sum(odds, possible, positives)
        share = possible * chance
        share /= np.maximum(share.sum(axis=1, keepdims=True), _NEXT_TO_NONE)
        spread = possible * chance * (1 - chance)
        spread /= np.maximum(spread.sum(axis=1, keepdims=True), _NEXT_TO_NONE)
        middle = np.einsum("bc,bct->bt", spread, heights)
        # Of the log of a cell's share: where positives are many it hardly moves.
        moves = (1 - chance)[..., np.newaxis] * (heights - middle[:, np.newaxis])
        moves -= np.einsum("bc,bct->bt", share, moves)[:, np.newaxis]
        gradient = np.einsum("bc,bct->t", known, moves) - precision * (slope - mean)
        information = np.einsum("bc,bct,bcu->tu", total * share, moves, moves) + np.diag(precision)
        slope = slope + np.clip(np.linalg.solve(information, gradient), -1, 1)
    root = np.linalg.cholesky(np.linalg.inv(information))
    expected = (total * share).sum(axis=0)
    return slope + rng.standard_normal((draws, len(mean))) @ root.T, expected


def _chances_of_sum(odds: FloatArray, rows: IntArray, wanted: FloatArray) -> FloatArray:
    """Chances with these odds, but for a factor by which so many rows are expected in all.

    Parameters
    ----------
    odds : ndarray of shape (cells,) or (sums, cells)
    rows : ndarray of shape (cells,) or (sums, cells)
    wanted : ndarray of shape (sums,)

    Returns
    -------
    ndarray of shape (sums, cells)
    """
    everything = np.maximum((odds * rows).sum(axis=-1), _NEXT_TO_NONE)
    level = np.log(np.maximum(wanted, _NEXT_TO_NONE)) - np.log(everything)
    for _ in range(_STEPS):
        chance = odds * np.exp(np.clip(level, -_STEEPEST, _STEEPEST))[:, np.newaxis]
        chance = chance / (1 + chance)
        expected = rows * chance
        slope = (expected * (1 - chance)).sum(axis=1)
        missing = wanted - expected.sum(axis=1)
        if np.all(np.abs(missing) < _CLOSE * (1 + wanted)):
            break
        level = level + np.clip(missing / np.maximum(slope, _NEXT_TO_NONE), -2, 2)
    return np.asarray(chance)


def draw_hidden(
    hidden: FloatArray,
    odds: FloatArray,
    silent: IntArray,
    rng: np.random.Generator,
    *,
    group: float = 1.0,
) -> FloatArray:
    """Draw in which cells hidden positives are, in no cell more than it has silent rows.

    Parameters
    ----------
    hidden : ndarray of shape (draws,)
        At most as many as there are silent rows.
    odds : ndarray of shape (draws, cells)
        Of a row of each cell, but for a factor.
    silent : ndarray of shape (cells,)
    rng : numpy Generator
    group : float
        How many of a cell come together.
    """
    chance = _chances_of_sum(odds, silent, hidden)
    placed = draw_in_groups(silent, chance, group, rng)
    # Independent draws, moved to the right sum by as much as each could be off it.
    spread = silent * chance * (1 - chance) + _NEXT_TO_NONE
    for _ in range(_ROUNDS):
        missing = hidden - placed.sum(axis=1)
        if np.all(np.abs(missing) < _NEXT_TO_NONE):
            break
        room = np.where(missing[:, np.newaxis] > 0, silent - placed, placed)
        moved = np.where(room > 0, spread, 0)
        moved *= (missing / np.maximum(moved.sum(axis=1), 1e-300))[:, np.newaxis]
        placed = np.clip(placed + moved, 0, silent)
    return placed
