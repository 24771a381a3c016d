"""Usual variation between windows, estimated from the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.causes.period import Period

_LEAST: Final = 0.05
_MOST_LASTING: Final = 0.8
_FEWEST_WINDOWS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowVariation:
    """Usual variation of the score distribution between windows.

    Shares of cells are compared on the scale 2 sqrt(share), where multinomial counts of n rows have
    variance 1 / n in every cell. Beyond that, windows differ along a few directions (more
    positives, an easier day). These are the principal components of their differences whose
    variance exceeds the largest that chance produces for as many cells and windows.

    Attributes
    ----------
    size : float
        Effective number of rows: its multinomial variance is that of the two periods' difference.
    dispersion : float
        Variance outside the directions over that of chance; 1 or more.
    directions : ndarray of shape (directions, cells)
        Unit vectors.
    excess : ndarray of shape (directions,)
        Variance of the two periods' difference along each direction, in units of chance variance.

    References
    ----------
    Marchenko, Pastur (1967): the largest eigenvalue of a covariance matrix by chance alone.
    """

    size: float
    dispersion: float
    directions: FloatArray
    excess: FloatArray

    @classmethod
    def learned(cls, windows: FloatArray, now: FloatArray, *, apart: float) -> RowVariation:
        """Estimate the variation from the reference's windows, for comparison with a new period.

        Parameters
        ----------
        windows : ndarray of shape (windows, cells)
            Row counts of the reference.
        now : ndarray of shape (cells,)
            Row counts of the new period.
        apart : float
            Variance of the difference of the periods' means, from `windows_apart`.
        """
        windows = windows[windows.sum(axis=1) > 0]
        rows = windows.sum(axis=1, keepdims=True)
        size = 1 / (1 / now.sum() + 1 / rows.sum())
        nothing = np.zeros((0, windows.shape[1])), np.zeros(0)
        if len(windows) < 2:
            return cls(size=size, dispersion=1.0, directions=nothing[0], excess=nothing[1])
        usual = windows.sum(axis=0) / rows.sum()
        off = 2 * np.sqrt(rows) * (np.sqrt(windows / rows) - np.sqrt(usual))
        cells = max(int((usual > 0).sum()) - 1, 1)
        freedom = len(windows) - 1
        if len(windows) < _FEWEST_WINDOWS:
            dispersion = max(float((off**2).sum()) / (freedom * cells), 1.0)
            return cls(size=size, dispersion=dispersion, directions=nothing[0], excess=nothing[1])
        _, lengths, directions = np.linalg.svd(off, full_matrices=False)
        variances = lengths**2 / freedom
        kept = variances > (1 + np.sqrt(cells / freedom)) ** 2
        left = float(variances[~kept].sum()) * freedom / max(freedom - kept.sum(), 1)
        lasting = np.array([_lasting(off @ one) for one in directions[kept]])
        apart_and_lasting = np.minimum(apart * lasting, 1.0 + apart)
        excess = (variances[kept] - 1) / float(np.mean(rows)) * apart_and_lasting
        return cls(
            size=size,
            dispersion=max(left / max(cells - kept.sum(), 1), 1.0),
            directions=directions[kept],
            excess=excess * size,
        )

    def log_likelihood(self, counts: FloatArray, shares: FloatArray) -> float:
        """Log likelihood of counts less that of their own shares; at most 0."""
        off = 2 * (np.sqrt(counts / counts.sum()) - np.sqrt(shares / shares.sum()))
        along = self.directions @ off
        usual = float((self.excess / (self.dispersion + self.excess) * along**2).sum())
        return -0.5 * self.size * (float(off @ off) - usual) / self.dispersion


def windows_apart(before: Period, now: Period) -> float:
    """Variance of the difference of the two periods' means, in units of one window's variance."""
    sizes = (period.rows.sum(axis=1) for period in (before, now))
    return sum(float((size**2).sum() / size.sum() ** 2) for size in sizes)


def share_variation(before: Period, now: Period) -> float:
    """Usual standard deviation of the log ratio of the two periods' confirmed shares.

    Beyond sampling error; at least 0.05.
    """
    labeled, rows = before.labeled.sum(axis=1), before.rows.sum(axis=1)
    used = rows > 0
    labeled, rows = labeled[used], rows[used]
    apart = windows_apart(before, now)
    if len(rows) < 2 or labeled.sum() == 0:
        return _LEAST
    expected = rows * labeled.sum() / rows.sum()
    beyond = ((labeled - expected) ** 2 - expected).sum() / (expected**2).sum()
    lasting = min(_lasting(labeled / expected) * apart, 1.0 + apart)
    return float(max(np.sqrt(max(beyond, 0.0) * lasting), _LEAST))


def beyond_chance(values: FloatArray, errors: FloatArray) -> float:
    """Variance of the windows' values beyond their sampling variance; at least 0."""
    if len(values) < 2:
        return 0.0
    return max(float(np.var(values, ddof=1)) - float(np.mean(errors**2)), 0.0)


def _lasting(course: FloatArray) -> float:
    """Variance inflation of a mean over windows from their lag-1 autocorrelation; 1 or more."""
    off = course - course.mean()
    if len(off) < _FEWEST_WINDOWS or not off.any():
        return 1.0
    kept = float(off[1:] @ off[:-1] / (off @ off))
    kept = min(max(kept, 0.0), _MOST_LASTING)
    return (1 + kept) / (1 - kept)
