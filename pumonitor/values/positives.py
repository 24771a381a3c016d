"""Draws of what the positives of each score bin are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._valued import ValuedRows
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.placing import Axis, place_hidden
from pumonitor.values.cells import cells_of_values
from pumonitor.values.estimates import ValueDraws

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_SEED: Final = 31
_ALONG_VALUE: Final = ((0.0, 0.0), (1.0, 0.3), 0.7, 20.0)
_LINE_COUNTS: Final = 100.0
_ALONG_SCORE: Final = ((1.0, 0.0), (1.5, 0.3))
"""What is believed of how the log odds of a positive rise: mean and standard deviation of the slope
over the normal score, and of its bend."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinnedRows:
    """Rows with their values, by what is known of them and by score bin.

    Attributes
    ----------
    valued : ValuedRows
        Rows, or groups of them.
    bins : ScoreBins
        Along the model's score.
    bin_of_row : ndarray of shape (groups,)
        Score bins along which the number of positives is known.
    is_known : ndarray of bool of shape (groups,)
        Known to be positive.
    is_silent : ndarray of bool of shape (groups,)
        May be positive.
    is_fair : ndarray of bool of shape (groups,)
        Rows of which the known positives are a fair sample of the positives of their score bin.
    bin_of_model : ndarray of shape (groups,), optional
        Bins of the model's score, where `bin_of_row` are those of another score.
    """

    valued: ValuedRows
    bins: ScoreBins
    bin_of_row: IndexArray
    is_known: BoolArray
    is_silent: BoolArray
    is_fair: BoolArray
    bin_of_model: IndexArray | None = None

    def draws(
        self,
        hidden: FloatArray,
        *,
        above: BoolArray | None = None,
        unfair: FloatArray | None = None,
        method: str,
    ) -> ValueDraws:
        """Draws of what the positives of each bin of the model's score are worth.

        Parameters
        ----------
        hidden : ndarray of shape (draws, bins)
            Hidden positives by bin of `bin_of_row`.
        above : ndarray of bool of shape (bins,), optional
            Which bins of `bin_of_row` lie at or above the threshold, where slopes may turn; those
            of the model unless given.
        unfair : ndarray of shape (bins,), optional
            How many of the hidden ones are expected among rows that are not fair.
        method : str
            How `hidden` was made.

        Notes
        -----
        What the known ones are worth is a sum. Hidden ones are some of the silent rows, whose
        values are known; the odds of a row rise along the normal score of its value as they do
        among rows whose positives are known.
        """
        return ValueDraws(
            bins=self.bins,
            hidden_value=self._hidden_value(
                hidden, above=self.bins.above if above is None else above, unfair=unfair
            ),
            valued=self.valued,
            is_known=self.is_known,
            is_silent=self.is_silent,
            method=method,
        )

    def _hidden_value(
        self, hidden: FloatArray, *, above: BoolArray, unfair: FloatArray | None = None
    ) -> FloatArray:
        """What hidden positives are worth, by draw and bin of the model's score."""
        cell_of_row, model_of_cell, axes = self._cells_and_axes()
        size, draws, bins = len(model_of_cell), len(hidden), len(self.bins.rows)
        index = self.bin_of_row * size + cell_of_row

        def summed(column: NDArray[Any], rows: BoolArray) -> FloatArray:
            sums = np.bincount(index[rows], column[rows], minlength=size * hidden.shape[1])
            return np.asarray(sums.reshape(-1, size))

        def counted(rows: BoolArray) -> IntArray:
            return np.rint(summed(self.valued.rows, rows)).astype(np.int64)

        silent, fair_known = counted(self.is_silent), counted(self.is_known & self.is_fair)
        mean = summed(self.valued.worth, self.is_silent) / np.maximum(silent, 1)
        value = np.zeros((draws, bins))
        to_bins = None
        if self.bin_of_model is not None:
            to_bins = (model_of_cell[:, np.newaxis] == np.arange(bins)).astype(float)
        for position, placed in place_hidden(
            hidden,
            silent,
            known=fair_known,
            possible=counted(self.is_fair),
            tells=np.asarray(fair_known.any(axis=1)),
            axes=axes,
            position=np.where(above, 0.5, -0.5),
            line_counts=_LINE_COUNTS,
            elsewhere=unfair,
            design_effect=self.valued.design_effect,
            rng=np.random.default_rng(_SEED),
        ):
            if to_bins is None:
                value[:, position] += placed @ mean[position]
            else:
                value += (placed * mean[position]) @ to_bins
        return value

    def _cells_and_axes(self) -> tuple[IndexArray, IndexArray, list[Axis]]:
        """The cell of each row, the model's bin of each cell, and what orders cells."""
        values = cells_of_values(self.valued.value, self.valued.rows)
        if self.bin_of_model is None:
            cell = np.arange(len(values.normal))
            return values.of_row, cell, [Axis(cell, values.normal, *_ALONG_VALUE)]
        width = len(values.normal)
        joint, cell_of_row = np.unique(
            self.bin_of_model * width + values.of_row, return_inverse=True
        )
        model, value = np.divmod(joint, width)
        axes = [
            Axis(model, self.bins.normal_score[model], *_ALONG_SCORE),
            Axis(value, values.normal[value], *_ALONG_VALUE),
        ]
        return cell_of_row, model, axes
