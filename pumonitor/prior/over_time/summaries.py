"""From the scores of windows to the four numbers that the filter reads of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.level import Level
from pumonitor.prior.over_time.prior_filter import PriorFilter
from pumonitor.prior.over_time.score_index import ScoreIndex
from pumonitor.prior.over_time.stored import packed, unpacked
from pumonitor.prior.over_time.window_summary import WindowSummary
from pumonitor.tables import ScoreTable

_MAGIC: Final = b"PUS2"
_NEW: Final = 0.2
_ROWS_OF_OWN: Final = 20.0
_ROWS_OF_RUNNING: Final = 60.0
_LEAST: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The rows of a window by score.

    Attributes
    ----------
    scores : ndarray of shape (cells,)
        Of each cell, rising.
    positives : ndarray of shape (cells,)
        Confirmed rows, each standing for 1 / propensity where that is logged: where positives
        score.
    rows : ndarray of shape (cells,)
        All rows, whatever their label, by their sample weight.
    confirmed, total : float
        Confirmed of all rows; of weighted ones those that would tell as much.
    effective_positives, effective_rows : float
        How many equal rows would tell as much of a mean over `positives`, over `rows`.
    """

    scores: FloatArray
    positives: FloatArray
    rows: FloatArray
    confirmed: float
    total: float
    effective_positives: float
    effective_rows: float

    @classmethod
    def of_counts(cls, scores: ArrayLike, labeled: ArrayLike, rows: ArrayLike) -> Cells:
        """Cells of unweighted rows, whose scores rise.

        Parameters
        ----------
        scores, labeled, rows : array-like of shape (cells,)
            How many of the rows are confirmed, and how many rows there are.
        """
        counted = np.asarray(labeled, dtype=np.float64), np.asarray(rows, dtype=np.float64)
        confirmed, total = (float(one.sum()) for one in counted)
        return cls(
            scores=np.asarray(scores, dtype=np.float64),
            positives=counted[0],
            rows=counted[1],
            confirmed=confirmed,
            total=total,
            effective_positives=confirmed,
            effective_rows=total,
        )

    @classmethod
    def of_table(cls, table: ScoreTable) -> Cells:
        """Of a score table, rows at the middle of their cell."""
        rows = table.labeled_mass + table.unlabeled + table.negative
        squares = table.labeled_mass_squares + table.unlabeled_squares + table.negative_squares
        mass = float(table.labeled_mass.sum())
        # Scaling both counts leaves the share confirmed as it is, with the error that it has.
        scale = mass / float(table.labeled_mass_squares.sum())
        return cls(
            scores=0.5 * (table.lower + table.upper),
            positives=table.labeled,
            rows=rows,
            confirmed=scale * mass,
            total=scale * float(rows.sum()),
            effective_positives=float(table.labeled.sum() ** 2 / table.labeled_squares.sum()),
            effective_rows=float(rows.sum() ** 2 / squares.sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summariser:
    """An index learned in the reference, and how much windows differ by themselves.

    A window's mean index scatters by sampling and, where days differ, by more. Both are learned
    here: the variance of the index within windows goes along slowly (a window's own goes with its
    mean and would pull it), what is left between the windows of the reference is added to that of
    every mean. So the filter takes a Sunday for a Sunday, no change, at the price of seeing smaller
    changes later. What differs in a way that lasts for weeks is no scatter: the filter's drifts
    follow it.

    Attributes
    ----------
    index : ScoreIndex
    reference : WindowSummary
        All windows of the reference together.
    between_of_positives : float
        Variance of their mean indices over confirmed rows, beyond sampling.
    variance, variance_of_positives : float
        Of the index within a window, so far.
    founding : tuple of WindowSummary
        Each window of the reference, from which the filter learns how much windows differ by
        themselves. Not stored: a filter begins once.

    Notes
    -----
    What is beyond sampling is the moment estimate of DerSimonian and Laird, cut off at 0; with one
    window it is 0.

    References
    ----------
    DerSimonian, Laird (1986), Meta-analysis in clinical trials, Controlled Clinical Trials 7,
    equation 8.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> def window(rows, share):
    ...     positive = rng.random(rows) < share
    ...     scores = np.sort(rng.normal(size=rows) + 2.0 * positive)
    ...     labeled = (rng.random(rows) < 0.3) & (rng.random(rows) < 0.1 + 0.3 * (scores > 2))
    ...     return Cells.of_counts(scores, labeled, np.ones(rows))
    >>> summariser = Summariser.learned([window(2000, 0.1) for _ in range(10)])
    >>> followed = summariser.begun(Level.given(0.1, 0.08, 0.12))
    >>> summary, summariser = summariser.after(window(2000, 0.1))
    >>> bool(0.9 < summary.all_mean < 1.1 < summary.confirmed_mean)
    True
    >>> bool(followed.after(summary).moved() < 0.1)
    True
    """

    index: ScoreIndex
    reference: WindowSummary
    between_of_positives: float
    variance: float
    variance_of_positives: float
    founding: tuple[WindowSummary, ...] = ()

    @classmethod
    def learned(
        cls,
        windows: Sequence[Cells | None],
        *,
        counts: Sequence[tuple[float, float]] | None = None,
    ) -> Summariser:
        """From the windows of the reference, all of whose labels have arrived.

        Parameters
        ----------
        windows : sequence of Cells or None
            Ten or more are good. With one alone nothing is known of how much windows differ. None
            for one with too few confirmed for cells.
        counts : sequence of (float, float), optional
            Rows and confirmed rows of each, where some have no cells.

        Raises
        ------
        ValueError
            Without rows, or without confirmed ones.
        """
        known = [window for window in windows if window is not None]
        whole = _together(known)
        index = ScoreIndex.learned(whole.scores, whole.positives, whole.rows)
        mean, variance = index.moments(whole.scores, whole.rows)
        variance = max(variance, _LEAST * mean**2)
        high, of_positives = index.moments(whole.scores, whole.positives)
        _, expected = index.moments(whole.scores, whole.rows * index.of(whole.scores))
        of_positives = _shrunk(expected, _ROWS_OF_OWN, of_positives, whole.effective_positives)
        of_positives = max(of_positives, _LEAST * high**2)

        counts = counts or [(window.total, window.confirmed) for window in known]
        total, confirmed = (float(window) for window in np.sum(counts, axis=0))
        founding = []
        for window, (rows, labeled) in zip(windows, counts, strict=True):
            means = {}
            if window is not None:
                means = {
                    "all_mean": index.moments(window.scores, window.rows)[0],
                    "all_variance": variance / window.effective_rows,
                }
            founding.append(WindowSummary(rows=rows, confirmed=labeled, **means))
        held = [window for window in known if window.confirmed > 0]
        highs = np.array([index.moments(window.scores, window.positives)[0] for window in held])
        of_held = np.array([window.effective_positives for window in held])
        between_of_positives = _between(highs, of_positives / of_held)
        return cls(
            index=index,
            reference=WindowSummary(
                rows=total,
                confirmed=confirmed,
                all_mean=mean,
                all_variance=variance / whole.effective_rows,
                confirmed_mean=high,
                confirmed_variance=of_positives / whole.effective_positives
                + between_of_positives / len(held),
            ),
            between_of_positives=between_of_positives,
            variance=variance,
            variance_of_positives=of_positives,
            founding=tuple(founding),
        )

    def begun(self, level: Level) -> PriorFilter:
        """The filter at the end of the reference."""
        return PriorFilter.begun(self.reference, level, windows=self.founding)

    def after(
        self, window: Cells, *, arrived: float = 1.0, arrived_variance: float = 0.0
    ) -> tuple[WindowSummary, Summariser]:
        """What the filter reads of a window, and how to go on after it.

        Parameters
        ----------
        window : Cells
        arrived, arrived_variance : float
            Share of its labels that has arrived, and the variance of the share's logarithm.
        """
        mean, own = self.index.moments(window.scores, window.rows)
        variance = max((1 - _NEW) * self.variance + _NEW * own, _LEAST * mean**2)
        high, running, within = np.nan, self.variance_of_positives, np.nan
        if window.confirmed > 0:
            high, own = self.index.moments(window.scores, window.positives)
            within = _shrunk(running, _ROWS_OF_OWN, own, window.effective_positives)
            within = max(within, _LEAST * high**2)
            within = within / window.effective_positives + self.between_of_positives
            running = _shrunk(running, _ROWS_OF_RUNNING, own, window.effective_positives)
        summary = WindowSummary(
            rows=window.total,
            confirmed=window.confirmed,
            all_mean=mean,
            all_variance=variance / window.effective_rows,
            confirmed_mean=high,
            confirmed_variance=within,
            arrived=arrived,
            arrived_variance=arrived_variance,
        )
        return summary, replace(self, variance=variance, variance_of_positives=running)

    def to_bytes(self) -> bytes:
        """All of it, to go on with later to the very same numbers."""
        facts = asdict(replace(self, founding=())) | {
            "index": {"edges": self.index.edges.tolist(), "values": self.index.values.tolist()}
        }
        return packed(_MAGIC, facts, {})

    @classmethod
    def from_bytes(cls, stored: bytes) -> Summariser:
        """What `to_bytes` stored; ValueError if that is something else."""
        facts, _ = unpacked(_MAGIC, stored)
        index = {name: np.array(values) for name, values in facts["index"].items()}
        return cls(
            **facts
            | {
                "index": ScoreIndex(**index),
                "reference": WindowSummary(**facts["reference"]),
                "founding": (),
            }
        )


def _together(windows: Sequence[Cells]) -> Cells:
    if not windows or not sum(one.confirmed for one in windows) > 0:
        msg = (
            f"a reference must have confirmed rows, found none in {len(windows)} windows: take "
            "more windows, or follow counts alone"
        )
        raise ValueError(msg)
    scores = np.concatenate([one.scores for one in windows])
    order = np.argsort(scores, kind="stable")
    sums = {
        name: sum(getattr(one, name) for one in windows)
        for name in ("confirmed", "total", "effective_positives", "effective_rows")
    }
    return Cells(
        scores=scores[order],
        positives=np.concatenate([one.positives for one in windows])[order],
        rows=np.concatenate([one.rows for one in windows])[order],
        **sums,
    )


def _shrunk(known: float, rows: float, own: float, more: float) -> float:
    """A variance known as if from so many rows, with that of more rows."""
    return (rows * known + more * own) / (rows + more)


def _between(values: FloatArray, variances: FloatArray) -> float:
    """Variance of what is measured with errors of these variances, beyond the errors."""
    weight = 1 / variances
    total = weight.sum()
    room = float(total - (weight**2).sum() / total)
    if len(values) < 2 or room <= 0:
        return 0.0
    off = values - weight @ values / total
    return max(float(weight @ off**2 - (len(values) - 1)) / room, 0.0)
