"""What the labels of one window say of two models that scored its rows."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.gate.mean_evidence import MeanEvidence
from pumonitor.gate.score_counts import ScoreCounts
from pumonitor.text import number_text

GateMetric = Literal["recall", "aul"]

_DECIMALS: Final = 4
"""Of a difference: rounding moves a mean by far less than one label does."""
_ROUNDING: Final = 1e-9
"""What a propensity that is stored and read may have lost."""
MODELS: Final = ("champion", "challenger")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedLabels:
    """Differences between two models at each confirmed positive of a window, and no row of it.

    Attributes
    ----------
    recall : ndarray of float, shape (units,)
        Whether the challenger has the positive among its highest rows, less whether the champion
        has: 1, 0, -1, and what lies between where rows tie at the cut or a unit has several
        positives. Its mean is the difference of recall at equal capacity.
    aul : ndarray of float, shape (units,)
        Share of all rows below the positive by the challenger's score, less that by the
        champion's. Its mean is the difference of AUL.
    weights : ndarray of float, shape (units,)
        Positives that a unit stands for.
    counts : mapping of str to ScoreCounts
        Of "champion" and "challenger": all rows by score, for the test of how labels were chosen.
        Empty with propensities, which say it.
    positives : int
        Confirmed positives; as many as units without entities.
    rows : int
        All rows that were ranked.
    largest_weight : float
        That a label could have had: 1 over the least propensity.
    champion_below : ndarray of float, shape (units,)
        Share of all rows below the positive by the champion's score; empty in windows that were
        stored before it was kept.

    Examples
    --------
    >>> labels = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    >>> champion = np.arange(10.0)
    >>> challenger = champion.copy()
    >>> challenger[8] = -1
    >>> found = PairedLabels.of_window(labels, champion, challenger, capacity=0.2)
    >>> found.recall.tolist(), found.aul.tolist()
    ([-1.0, 0.0], [-0.8, 0.0])
    """

    recall: FloatArray
    aul: FloatArray
    weights: FloatArray
    counts: Mapping[str, ScoreCounts]
    positives: int
    rows: int
    largest_weight: float = 1.0
    champion_below: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_window(
        cls,
        labels: ArrayLike,
        champion: ArrayLike,
        challenger: ArrayLike,
        *,
        capacity: float,
        entity: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        least_propensity: float | None = None,
        is_sampled: ArrayLike | None = None,
    ) -> PairedLabels:
        """From rows of one window that both models scored.

        Parameters
        ----------
        labels : array-like of shape (n,)
            1 confirmed positive, 0 unlabeled, -1 confirmed negative.
        champion, challenger : array-like of shape (n,)
            Scores.
        capacity : float
            Share of the rows that can be looked at.
        entity : array-like of shape (n,), optional
            Positives of one entity are one unit, of their mean.
        propensity : array-like of shape (n,), optional
            Probability that such a positive is confirmed.
        least_propensity : float, optional
            The least that any positive has; needed with propensities. Labels of it are seen rarely,
            and those seen before one of them cannot tell how much it will weigh.
        is_sampled : array-like of bool, shape (n,), optional
            Rows that stand for all rows of the window; the others are there for their label. All
            unless given.

        Raises
        ------
        InputError
            If scores are not finite, or a propensity is not from the least one up to 1.
        """
        given = np.asarray(labels, dtype=np.int8)
        scores = {"champion": champion, "challenger": challenger}
        found = {name: _finite(one, name, len(given)) for name, one in scores.items()}
        stands = np.ones(len(given), bool) if is_sampled is None else np.asarray(is_sampled, bool)
        positive = given == 1
        weights, largest = np.ones(int(positive.sum())), 1.0
        if propensity is not None:
            least = _least(least_propensity)
            chances = np.asarray(propensity, dtype=np.float64)[positive]
            weights, largest = 1.0 / _chances(chances, least), 1.0 / least
        places = [_places(one[stands], one[positive], capacity) for one in found.values()]
        units = [places[1][at] - places[0][at] for at in (0, 1)]
        columns = np.stack([*units, places[0][1]], axis=1)
        positives = len(weights)
        if entity is not None:
            columns, weights = _by_entity(np.asarray(entity)[positive], columns, weights)
        differences = columns[:, :2].round(_DECIMALS)
        return cls(
            recall=differences[:, 0],
            aul=differences[:, 1],
            weights=weights,
            counts={name: ScoreCounts.of(given, one) for name, one in found.items()}
            if propensity is None
            else {},
            positives=positives,
            rows=int(stands.sum()),
            largest_weight=float(largest),
            champion_below=columns[:, 2],
        )

    def share_below(self, model: str) -> FloatArray:
        """Share of all rows below each unit, by the score of "champion" or "challenger"."""
        return self.champion_below + (0.0 if model == "champion" else self.aul)

    def differences(self, metric: GateMetric) -> FloatArray:
        """Of one metric."""
        return self.recall if metric == "recall" else self.aul

    def to_bytes(self) -> bytes:
        """For the state database."""
        columns: dict[str, Any] = {
            "recall": self.recall,
            "aul": self.aul,
            "weights": self.weights,
            "sizes": np.array([self.positives, self.rows]),
            "largest_weight": np.array(self.largest_weight),
            "champion_below": self.champion_below,
        }
        for model, counts in self.counts.items():
            columns |= {f"{model} {one.name}": getattr(counts, one.name) for one in fields(counts)}
        file = io.BytesIO()
        np.savez_compressed(file, **columns)
        return file.getvalue()

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> PairedLabels:
        """What `to_bytes` gave, read by `numpy.load`."""
        counts = {
            model: ScoreCounts(
                is_probability=bool(columns[f"{model} is_probability"]),
                **{one.name: columns[f"{model} {one.name}"] for one in fields(ScoreCounts)[1:]},
            )
            for model in MODELS
            if f"{model} cell" in columns
        }
        return cls(
            recall=columns["recall"],
            aul=columns["aul"],
            weights=columns["weights"],
            counts=counts,
            positives=int(columns["sizes"][0]),
            rows=int(columns["sizes"][1]),
            largest_weight=float(columns.get("largest_weight", 1.0)),
            champion_below=columns.get("champion_below", np.zeros(0)),
        )


def mean_evidence_of(windows: Sequence[PairedLabels], metric: GateMetric) -> MeanEvidence:
    """What windows together say of the mean of one metric's differences."""
    return MeanEvidence.of(
        [one.differences(metric) for one in windows],
        [one.weights for one in windows],
        largest_weight=max((one.largest_weight for one in windows), default=1.0),
    )


def _finite(scores: ArrayLike, model: str, rows: int) -> FloatArray:
    found = np.asarray(scores, dtype=np.float64).ravel()
    if len(found) != rows:
        msg = f"the {model} has {len(found)} scores for {rows} rows"
        raise InputError(msg)
    wrong = int((~np.isfinite(found)).sum())
    if wrong:
        msg = f"{wrong} of {rows} scores of the {model} are missing or not finite: score every row"
        raise InputError(msg)
    return found


def _least(propensity: float | None) -> float:
    if propensity is None or not 0 < propensity <= 1:
        msg = (
            "labels with propensities need least_propensity, the least that any positive has, "
            f"above 0 and at most 1, got {propensity}"
        )
        raise InputError(msg)
    return propensity


def _chances(propensity: FloatArray, least: float) -> FloatArray:
    wrong = int((~((propensity > 0) & (propensity <= 1))).sum())
    if wrong:
        msg = (
            f"{wrong} of {len(propensity)} confirmed positives have a propensity that is not above "
            "0 and at most 1"
        )
        raise InputError(msg)
    below = int((propensity < least * (1 - _ROUNDING)).sum())
    if below:
        msg = (
            f"{below} of {len(propensity)} confirmed positives have a propensity below "
            f"least_propensity {least:g}, the least {number_text(propensity.min())}: give the "
            "least that any positive has"
        )
        raise InputError(msg)
    return propensity


def _places(
    all_rows: FloatArray, positives: FloatArray, capacity: float
) -> tuple[FloatArray, FloatArray]:
    """Of positives: whether each is among the highest rows, and the share of rows below it."""
    ordered = np.sort(all_rows)
    rows = max(len(ordered), 1)
    below = np.searchsorted(ordered, positives, side="left")
    reached = np.searchsorted(ordered, positives, side="right")
    # Of rows that tie at the cut, as many as there is room for.
    room = capacity * rows - (rows - reached)
    among = np.clip(room / np.maximum(reached - below, 1), 0.0, 1.0)
    return among, 0.5 * (below + reached) / rows


def shares_below(all_rows: FloatArray, positives: FloatArray) -> FloatArray:
    """Share of all rows below each of some scores, those alike counted half."""
    return _places(all_rows, positives, 1.0)[1]


def _by_entity(
    entity: NDArray[Any], columns: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One unit per entity: the mean of its positives."""
    _, unit, sizes = np.unique(entity, return_inverse=True, return_counts=True)
    mass = np.bincount(unit, weights, minlength=len(sizes))
    means = [
        np.bincount(unit, weights * column, minlength=len(sizes)) / mass for column in columns.T
    ]
    return np.stack(means, axis=1), mass / sizes
