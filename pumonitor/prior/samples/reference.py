"""A trusted reference window: rows whose class prior is known, for estimators that start there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceWindow:
    """Rows scored by the same model, at a time when the class prior was known.

    Attributes
    ----------
    table : ScoreTable
        Their scores and labels. Equal bins in both windows lose nothing; tables of rows are exact
        enough in any case.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate
        Share of positives in the population the window is from. An estimate made on these very
        rows keeps its interval for the unlabeled ones.

    Examples
    --------
    >>> reference = ReferenceWindow.from_arrays([1, 1, 0, 0], [3, 2, 1, 0], class_prior=(0.5, 0.6))
    >>> reference.table.n_labeled
    2
    """

    table: ScoreTable
    class_prior: float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate

    @classmethod
    def from_arrays(
        cls,
        labels: Any,
        scores: Any,
        *,
        class_prior: float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate,
        sample_weight: Any = None,
        propensity: Any = None,
        detection_rate: float = 1.0,
        min_propensity: float = 0.0,
    ) -> ReferenceWindow:
        """From rows; parameters as in `pumonitor.estimate_class_prior`."""
        table = ScoreTable.from_arrays(
            labels,
            scores,
            sample_weight=sample_weight,
            propensity=propensity,
            detection_rate=detection_rate,
            min_propensity=min_propensity,
        )
        return cls(table=table, class_prior=class_prior)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """What an estimator sees of a reference window, beside `TwoSamples`.

    Attributes
    ----------
    unlabeled : ndarray of shape (samples, cells) or (1, cells)
        Shares of its unlabeled rows on the cells of the `TwoSamples` it belongs to.
    n_unlabeled : float
        (Effective) number of them.
    prior : ClassPriorEstimate
        Its class prior, and the share of labeled-like rows among its unlabeled ones as
        `unlabeled_prior`, each with its interval.
    """

    unlabeled: NDArray[np.float64]
    n_unlabeled: float
    prior: ClassPriorEstimate
