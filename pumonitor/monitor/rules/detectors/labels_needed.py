"""Number of confirmed positives per window needed to detect a change in time, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.watch import DETECTORS, DetectorState

LABELS: Final = (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000)
"""Numbers of confirmed positives per window that are simulated."""

_STREAMS: Final = 200
_LONGEST: Final = 120
_QUIET: Final = 20
_MOST: Final = 0.9
_CAUTION: Final = 0.9
_USUAL_EXCESS: Final = 0.3
_LEAST_VARIANCE: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Variation of an estimate while nothing changes.

    Attributes
    ----------
    per_label : float
        Sampling standard deviation times the square root of the number of confirmed positives.
    between_windows : float
        Standard deviation between windows beyond sampling.
    """

    per_label: float
    between_windows: float = 0.0

    @classmethod
    def of_windows(cls, values: FloatArray, errors: FloatArray, labeled: FloatArray) -> Noise:
        """Estimate the noise from windows in which nothing changed.

        Notes
        -----
        Standard errors include the uncertainty of a class prior that all windows share, which adds
        no variation between them. So sampling errors are cut off at the upper end of a one-sided
        90% interval of the windows' standard deviation.

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
        # Without any variation between windows the standard errors are all that is known.
        too_large = 0 < most < by_sampling
        return cls(
            per_label=stated * (math.sqrt(most / by_sampling) if too_large else 1.0),
            between_windows=math.sqrt(max(varied - by_sampling, 0.0)),
        )

    def of_means(self, windows: int, *, variance: float = 1.0) -> Noise:
        """The noise of windows that are `windows` times as long.

        `variance` is the variance inflation of such means, from `variance_of_means`.
        """
        return Noise(
            per_label=self.per_label * math.sqrt(variance),
            between_windows=self.between_windows * math.sqrt(variance / windows),
        )


def variance_of_means(values: FloatArray, windows: int) -> float:
    """Variance inflation of means of k neighbouring windows, relative to independent windows.

    1 + 2 sum (1 - l / k) r_l over lags l below k, with autocorrelations r_l. It is below 1 when
    weekdays cancel out and above 1 under positive autocorrelation. A short series estimates it
    badly, so its difference from 1 is shrunk; most series are within .3 of 1.

    Examples
    --------
    >>> weeks = np.tile([1.0, 1.0, 1.0, 1.0, 1.0, -2.0, -3.0], 50)
    >>> variance_of_means(weeks, 7) < 0.4
    True
    """
    off = values - np.mean(values)
    whole = float(off @ off)
    lags = np.arange(1, min(windows, len(values) - 1))
    if not len(lags) or whole <= 0:
        return 1.0
    weights = 2 * (1 - lags / windows)
    # An autocorrelation of n independent values has mean -1 / n and variance 1 / n.
    correlations = np.array([off[lag:] @ off[:-lag] for lag in lags]) / whole + 1 / len(values)
    by_chance = float(weights @ weights) / len(values)
    kept = _USUAL_EXCESS**2 / (_USUAL_EXCESS**2 + by_chance)
    return max(1 + kept * float(weights @ correlations), _LEAST_VARIANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAfter:
    """Detection delay in windows, or parts of windows, counted from the first of the change.

    Attributes
    ----------
    labels : int
        Confirmed positives per window.
    median, most : float
        Median and 90% quantile of the delay; infinite beyond 120 windows.
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
    parts: int = 1,
    detector: str = "shiryaev-roberts",
    seed: int = 0,
) -> SeenAfter:
    """Detection delay of a lasting drop, from running the detector on simulated windows.

    Parameters
    ----------
    labels : int
        Confirmed positives per window.
    drop : float
        In the estimate's unit.
    noise : Noise
    false_alarms_per_year, windows_per_year : float
    reference_windows : int
    parts : int
        Number of parts of a window. The drop begins with any of them, and delays count parts: 7
        for delays in days with windows of a week.
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
    error = noise.per_label / math.sqrt(labels)
    errors = np.full(_STREAMS, error)
    delays = np.sort(
        simulated_delays(
            errors,
            np.hypot(errors, noise.between_windows),
            drop=drop,
            parts=parts,
            windows_per_alarm=windows_per_year / false_alarms_per_year,
            reference_windows=reference_windows,
            detector=detector,
            seed=seed,
        )
    )
    if not len(delays):
        delays = np.array([math.inf])
    return SeenAfter(
        labels=labels,
        median=float(delays[math.ceil(0.5 * len(delays)) - 1]),
        most=float(delays[math.ceil(_MOST * len(delays)) - 1]),
    )


def simulated_delays(
    errors: FloatArray,
    spreads: FloatArray,
    *,
    drop: FloatArray | float,
    parts: int = 1,
    windows_per_alarm: float,
    reference_windows: int,
    detector: str = "shiryaev-roberts",
    seed: int = 0,
) -> FloatArray:
    """How long the detector takes to see a drop in simulated series, in parts of a window.

    Parameters
    ----------
    errors, spreads : ndarray of shape (series,)
        Stated standard error of each window, and true standard deviation of windows.
    drop : float or ndarray of shape (series,)
    parts : int
        Number of parts of a window; the drop begins with any of them, with equal probability.
    windows_per_alarm : float
    reference_windows : int
    detector : {"shiryaev-roberts", "cusum"}
    seed : int

    Returns
    -------
    ndarray
        Delays from the begin of the drop to the end of the alarming window; infinite beyond 120
        windows, and for the slowest tenth. Series with an alarm before the drop are left out.
    """
    rng = np.random.default_rng(seed)
    series = len(errors)
    shape = (series, reference_windows)
    watch = DetectorState.begun_after(
        rng.normal(size=shape) * spreads[:, np.newaxis],
        np.broadcast_to(errors[:, np.newaxis], shape),
        np.ones(reference_windows, dtype=np.intp),
        direction="down",
        windows_per_alarm=windows_per_alarm,
        detector=detector,
    )
    late = rng.integers(0, parts, series)
    delays = np.full(series, math.inf)
    alarmed_before = np.zeros(series, dtype=bool)
    for window in range(-_QUIET, _LONGEST):
        share = np.full(series, float(window >= 0)) if window else 1.0 - late / parts
        watch = watch.after(rng.normal(size=series) * spreads - drop * share, errors)
        if window == -1:
            alarmed_before = watch.on
        elif window >= 0:
            delays = np.where(watch.on & np.isinf(delays), (window + 1) * parts - late, delays)
            if np.mean(np.isfinite(delays[~alarmed_before])) >= _MOST:
                break
    # A false alarm from before the drop is no detection.
    return np.asarray(delays[~alarmed_before])


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
    """Fewest confirmed positives per window with which the median delay is at most `within`.

    Returns
    -------
    int or None
        None if 5000 are not enough, as when windows vary too much.
    list of SeenAfter
        Delays for each simulated number.
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
