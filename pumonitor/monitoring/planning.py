"""How many confirmed positives it takes to see a change in time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitoring.detectors.watch import DETECTORS, Watch

__all__ = ["LABELS", "Noise", "SeenAfter", "labels_needed", "seen_after"]

FloatArray = NDArray[np.float64]

LABELS: Final = (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000)
"""Confirmed positives per window that are tried."""

_STREAMS: Final = 300
_LONGEST: Final = 120
_QUIET: Final = 20
_MOST: Final = 0.9
_CAUTION: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How much an estimate varies while nothing changes.

    Attributes
    ----------
    per_label : float
        Standard deviation by sampling times the root of the number of confirmed positives.
    between_windows : float
        Standard deviation of what windows differ by beyond that.
    """

    per_label: float
    between_windows: float = 0.0

    @classmethod
    def of_windows(cls, values: FloatArray, errors: FloatArray, labeled: FloatArray) -> Noise:
        """From windows in which nothing changed.

        Notes
        -----
        Stated errors also hold what is not known of a class prior that all windows have in common,
        which moves none of them. So errors are taken to be no larger than windows vary, or rather
        than they may: the upper end of a one-sided 90% interval of their standard deviation.

        Examples
        --------
        >>> noise = Noise.of_windows(np.array([0.8, 0.82, 0.78]), np.full(3, 0.02), np.full(3, 100))
        >>> round(noise.per_label, 3), noise.between_windows
        (0.2, 0.0)
        """
        stated = float(np.median(errors * np.sqrt(labeled)))
        freedom = len(values) - 1
        if freedom < 1:
            return cls(per_label=stated)
        varied, by_sampling = float(np.var(values, ddof=1)), float(np.mean(errors**2))
        most = varied * freedom / float(special.chdtri(freedom, _CAUTION))
        # Windows that do not vary at all tell of no sampling: nothing is known but what is stated.
        too_large = 0 < most < by_sampling
        return cls(
            per_label=stated * (math.sqrt(most / by_sampling) if too_large else 1.0),
            between_windows=math.sqrt(max(varied - by_sampling, 0.0)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAfter:
    """Windows from a change to its alarm, the first window of the change counted.

    Attributes
    ----------
    labels : int
        Confirmed positives per window.
    median, most : float
        Half of the changes, and nine in ten, are seen by then; infinite beyond 120 windows.
    """

    labels: int
    median: float
    most: float


def seen_after(
    labels: int,
    *,
    drop: float,
    noise: Noise,
    false_alarms_per_year: float = 1.0,
    windows_per_year: float = 365.25,
    reference_windows: int = 60,
    detector: str = "shiryaev-roberts",
    seed: int = 0,
) -> SeenAfter:
    """How soon the detector sees a lasting drop, by running it on simulated windows.

    Parameters
    ----------
    labels : int
        Confirmed positives per window.
    drop : float
        In the estimate's unit.
    noise : Noise
    false_alarms_per_year, windows_per_year : float
    reference_windows : int
    detector : {"shiryaev-roberts", "cusum"}
    seed : int

    Raises
    ------
    ValueError
        Unless drop > 0, labels >= 1 and the noise is positive, or if the detector bets.

    Examples
    --------
    >>> few, many = (seen_after(n, drop=0.05, noise=Noise(per_label=0.2)) for n in (20, 200))
    >>> few.median > many.median
    True
    """
    if drop <= 0 or labels < 1 or noise.per_label <= 0:
        msg = (
            f"drop and noise must be above 0 and labels at least 1, got drop {drop:g}, noise "
            f"{noise.per_label:g} and {labels} labels"
        )
        raise ValueError(msg)
    if DETECTORS[detector].bets:
        msg = f"{detector} depends on more than the noise; plan with shiryaev-roberts"
        raise ValueError(msg)
    rng = np.random.default_rng(seed)
    error = noise.per_label / math.sqrt(labels)
    spread = math.hypot(error, noise.between_windows)
    errors = np.full((_STREAMS, reference_windows), error)
    watch = Watch.begun_after(
        rng.normal(scale=spread, size=errors.shape),
        errors,
        np.ones(reference_windows, dtype=np.intp),
        direction="down",
        windows_per_alarm=windows_per_year / false_alarms_per_year,
        detector=detector,
    )
    delays = np.full(_STREAMS, math.inf)
    alarmed_before = np.zeros(_STREAMS, dtype=bool)
    for window in range(-_QUIET, _LONGEST):
        level = -drop if window >= 0 else 0.0
        watch = watch.after(level + rng.normal(scale=spread, size=_STREAMS), errors[:, 0])
        if window == -1:
            alarmed_before = watch.on
        elif window >= 0:
            delays = np.where(watch.on & np.isinf(delays), window + 1, delays)
            if np.isfinite(delays).all():
                break
    # A false alarm that is still on says nothing of this change.
    delays = np.sort(delays[~alarmed_before]) if not alarmed_before.all() else np.array([math.inf])
    return SeenAfter(
        labels=labels,
        median=float(delays[math.ceil(0.5 * len(delays)) - 1]),
        most=float(delays[math.ceil(_MOST * len(delays)) - 1]),
    )


def labels_needed(
    *,
    drop: float,
    noise: Noise,
    within: float,
    false_alarms_per_year: float = 1.0,
    windows_per_year: float = 365.25,
    reference_windows: int = 60,
    detector: str = "shiryaev-roberts",
) -> tuple[int | None, list[SeenAfter]]:
    """The least number per window with which half of the drops are seen within so many windows.

    Returns
    -------
    int or None
        None where not even 5000 are enough, or the windows differ too much by themselves.
    list of SeenAfter
        For each number that was tried.
    """
    tried = [
        seen_after(
            labels,
            drop=drop,
            noise=noise,
            false_alarms_per_year=false_alarms_per_year,
            windows_per_year=windows_per_year,
            reference_windows=reference_windows,
            detector=detector,
        )
        for labels in LABELS
    ]
    enough = [one.labels for one in tried if one.median <= within]
    return (min(enough) if enough else None), tried
