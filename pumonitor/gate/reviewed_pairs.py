"""What reviews and complaints of one window say of two models, and of several windows together."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from pumonitor.gate.paired_labels import GateMetric

FloatArray = NDArray[np.float64]

_LEVELS: Final = np.linspace(0, 1, 401)
_BISECTIONS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedPair:
    """Challenger less champion in one window, as reviews and complaints tell it.

    Attributes
    ----------
    recall, aul : ndarray of float, shape (readings, 401)
        Quantiles of the difference, by what undecided rows may be; no reading where too few rows
        are known to be positive.
    positives : int
        Rows known to be positive.
    total : float
        Positives in all, as far as is known: the weight of the window.
    rows : int
    """

    recall: FloatArray
    aul: FloatArray
    positives: int
    total: float
    rows: int

    @classmethod
    def of_draws(
        cls,
        draws: Mapping[str, Sequence[FloatArray]],
        *,
        positives: int,
        total: float,
        rows: int,
    ) -> Self:
        """From draws of the differences, by what undecided rows may be; none without any."""
        recall, aul = (
            np.array([np.quantile(drawn, _LEVELS) for drawn in draws.get(metric, ())]).reshape(
                -1, len(_LEVELS)
            )
            for metric in ("recall", "aul")
        )
        return cls(recall=recall, aul=aul, positives=positives, total=total, rows=rows)

    @property
    def weights(self) -> FloatArray:
        """That of the window."""
        return np.array([self.total])

    def differences(self, metric: GateMetric) -> FloatArray:
        """Quantiles of one metric."""
        return self.recall if metric == "recall" else self.aul

    def to_bytes(self) -> bytes:
        """For the state database."""
        file = io.BytesIO()
        np.savez_compressed(
            file,
            reviewed_recall=self.recall,
            reviewed_aul=self.aul,
            sizes=np.array([self.positives, self.total, self.rows]),
        )
        return file.getvalue()

    @classmethod
    def from_columns(cls, columns: Mapping[str, FloatArray]) -> Self | None:
        """What `to_bytes` gave; None if these are of another kind."""
        if "reviewed_recall" not in columns:
            return None
        positives, total, rows = columns["sizes"].tolist()
        return cls(
            recall=columns["reviewed_recall"],
            aul=columns["reviewed_aul"],
            positives=int(positives),
            total=float(total),
            rows=int(rows),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedEvidence:
    """A difference over several windows, weighted by their positives.

    How often positives complain far below the queue's cut is unknown in the same way in all
    windows, so that more of them do not make the difference surer: an end of the interval is the
    mean of the windows' ends, which holds however their errors go together. It is an interval of
    what is believed of complaints, not of bets: wrong where they fall off by much more than
    threefold below the cut.

    Attributes
    ----------
    quantiles : ndarray of float, shape (readings, 401)
        None of a reading without windows.
    units : int
        Windows that tell something.

    Notes
    -----
    Of normal errors the standard deviation of a mean is at most the mean of the standard
    deviations, so that its quantiles are no further out than the mean of theirs.
    """

    quantiles: FloatArray
    units: int

    @classmethod
    def of(cls, windows: Sequence[ReviewedPair], metric: GateMetric) -> Self:
        """Of windows with a reading; that of one without undecided rows stands for all."""
        telling = [window for window in windows if len(window.differences(metric))]
        if not telling:
            return cls(quantiles=np.zeros((0, len(_LEVELS))), units=0)
        readings = max(len(window.differences(metric)) for window in telling)
        weights = np.array([window.total for window in telling])
        shape = (readings, len(_LEVELS))
        each = [np.broadcast_to(window.differences(metric), shape) for window in telling]
        return cls(quantiles=np.average(each, axis=0, weights=weights), units=len(telling))

    @property
    def mean(self) -> float | None:
        """The median of the likeliest reading; None without a window."""
        return float(np.median(self.quantiles[0])) if self.units else None

    def lower(self, *, error: float) -> float:
        """Lower end; the difference is below it with probability `error`."""
        return float(self._ends(error).min()) if self.units else -1.0

    def upper(self, *, error: float) -> float:
        """Upper end."""
        return float(self._ends(1 - error).max()) if self.units else 1.0

    def capital(self, mean: float = 0.0) -> float:
        """1 over the least error at which the difference is surely above a value."""
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.lower(error=middle) > mean else (middle, high)
        return 1 / high

    def _ends(self, level: float) -> FloatArray:
        return np.array([np.interp(level, _LEVELS, reading) for reading in self.quantiles])
