"""A small network that gives quantiles of an unlabeled prior, read from a file of plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

GAP = 0.15
"""Scale of the gaps between quantiles: about what the network starts from."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuantileNetwork:
    """Layers of weights, and the levels of the quantiles that come out.

    Attributes
    ----------
    levels : ndarray of shape (quantiles,)
        Ascending and symmetric about 0.5.
    weights : tuple of ndarray
        One of shape (inputs, outputs) per layer.
    offsets : tuple of ndarray
        One of shape (outputs,) per layer.
    """

    levels: FloatArray
    weights: tuple[FloatArray, ...]
    offsets: tuple[FloatArray, ...]

    def quantiles(self, inputs: FloatArray) -> FloatArray:
        """Quantiles of the prior, shape (samples, quantiles), ascending in [0, 1].

        The network works on the arcsine scale, where a share's error varies little with the share:
        the middle one directly, the others by positive gaps from their neighbours.
        """
        layer = inputs
        for weight, offset in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            layer = layer @ weight + offset
            layer = layer * special.expit(layer)
        out = layer @ self.weights[-1] + self.offsets[-1]
        middle = len(self.levels) // 2
        gaps = GAP * np.logaddexp(0.0, out)
        centre = out[:, middle : middle + 1]
        below = centre - np.cumsum(gaps[:, :middle][:, ::-1], axis=1)[:, ::-1]
        above = centre + np.cumsum(gaps[:, middle + 1 :], axis=1)
        scale = np.hstack([below, centre, above])
        return np.asarray(np.sin(np.clip(scale, 0.0, 0.5 * np.pi)) ** 2)

    def at(self, quantiles: FloatArray, level: float) -> float:
        """The quantile at any level, between those of one sample, straight on the normal scale."""
        known = special.ndtri(self.levels)
        wanted = float(special.ndtri(level))
        if known[0] <= wanted <= known[-1]:
            return float(np.interp(wanted, known, quantiles))
        # Beyond the outermost level its distance from the middle grows on.
        end = 0 if wanted < known[0] else -1
        middle = len(known) // 2
        reach = wanted / float(known[end])
        beyond = quantiles[middle] + reach * (quantiles[end] - quantiles[middle])
        return float(np.clip(beyond, 0.0, 1.0))


@cache
def load_network(name: str) -> QuantileNetwork:
    """Read the network of that name from the package's data."""
    path = resources.files("pumonitor.prior") / "data" / f"{name}.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        layers = sum(key.startswith("weight") for key in stored.files)
        return QuantileNetwork(
            levels=stored["levels"].astype(np.float64),
            weights=tuple(stored[f"weight_{layer}"].astype(np.float64) for layer in range(layers)),
            offsets=tuple(stored[f"offset_{layer}"].astype(np.float64) for layer in range(layers)),
        )
