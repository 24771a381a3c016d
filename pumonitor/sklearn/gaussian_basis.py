"""Gaussian basis functions: how near a row is to each of some two hundred rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray

_CHUNK: Final = 4096
"""Rows at a time: memory does not grow with their number."""

_MOST_CANDIDATES: Final = 10_000
"""Rows from which centres are chosen; among more, that many are drawn first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianBasis:
    """exp(-|x - centre|^2 / (2 width^2)) of standardised features.

    Attributes
    ----------
    mean, spread : ndarray of shape (columns,)
        Of each feature; missing values are taken at the mean.
    centres : ndarray of shape (centres, columns)
        Standardised rows.
    width : float
    """

    mean: FloatArray
    spread: FloatArray
    centres: FloatArray
    width: float

    @classmethod
    def of(
        cls,
        rows: FloatArray,
        weight: FloatArray,
        *,
        centres: int,
        width: float | None,
        rng: np.random.Generator,
    ) -> GaussianBasis:
        """Choose centres among rows of weight above 0; the width is their median distance.

        Parameters
        ----------
        rows : ndarray of shape (rows, columns)
            NaN where a value is missing.
        weight : ndarray of shape (rows,)
        centres : int
            At most; rows that are alike are one centre.
        width : float, optional
        rng : numpy.random.Generator
        """
        mean, spread = _standards(rows, weight)
        candidates = np.flatnonzero(weight > 0)
        if len(candidates) > _MOST_CANDIDATES:
            candidates = np.sort(rng.choice(candidates, _MOST_CANDIDATES, replace=False))
        found = np.unique(_standardised(rows[candidates], mean, spread), axis=0)
        if len(found) > centres:
            found = found[np.sort(rng.choice(len(found), centres, replace=False))]
        return cls(
            mean=mean,
            spread=spread,
            centres=found,
            width=_median_distance(found) if width is None else width,
        )

    def chunks(self, rows: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Basis functions of a few thousand rows at a time, shape (rows, centres)."""
        for start in range(0, len(rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            near = _standardised(rows[part], self.mean, self.spread)
            yield part, np.exp(_squared_distances(near, self.centres) / (-2 * self.width**2))

    def weighted(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """The sum of the basis functions of each row with weights of shape (centres,)."""
        found = np.empty(len(rows))
        for part, basis in self.chunks(rows):
            found[part] = basis @ weights
        return found


def _standards(rows: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation by column, of values that are there; 1 of a constant column."""
    columns = rows.shape[1]
    sums = np.zeros((3, columns))
    # Squares of what is far from 0 would swallow the spread.
    origin = rows[np.argmax(~np.isnan(rows), axis=0), np.arange(columns)]
    origin = np.nan_to_num(origin)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK] - origin
        share = np.where(np.isnan(part), 0.0, weight[start : start + _CHUNK, np.newaxis])
        part = np.nan_to_num(part)
        sums += np.stack([share.sum(0), (share * part).sum(0), (share * part**2).sum(0)])
    total = np.maximum(sums[0], np.finfo(np.float64).tiny)
    middle = sums[1] / total
    variance = np.maximum(sums[2] / total - middle**2, 0)
    tiny = 1e-12 * (sums[2] / total)
    return origin + middle, np.where(variance > tiny, np.sqrt(variance), 1.0)


def _standardised(rows: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    return np.asarray(np.nan_to_num((rows - mean) / spread))


def _squared_distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    found = rows @ (-2 * centres.T)
    found += np.einsum("ij,ij->i", rows, rows)[:, np.newaxis]
    found += np.einsum("ij,ij->i", centres, centres)
    return np.maximum(found, 0, out=found)


def _median_distance(centres: FloatArray) -> float:
    """Between two centres that are apart in double precision; 1 where there are none."""
    above = np.triu_indices(len(centres), k=1)
    distances = np.sqrt(_squared_distances(centres, centres)[above])
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0
