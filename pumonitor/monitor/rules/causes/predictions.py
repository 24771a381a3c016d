"""Predicted score distributions of the new period, from what may have happened to the scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.causes.shapes import Shape, Shapes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """Predicted score distributions: shares of the coarse cells for each kind of rows."""

    positives: FloatArray
    negatives: FloatArray
    labeled: FloatArray
    prior_ratio: float = 1.0
    everything: FloatArray | None = None
    """Shares of all rows, if they are not the mixture of positives and negatives."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distributions:
    """Score distributions of the reference, and what they become when some of them change.

    Attributes
    ----------
    shapes : Shapes
    positives, negatives, labeled : ndarray
        Shares of the coarse cells in the reference.
    """

    shapes: Shapes
    positives: FloatArray
    negatives: FloatArray
    labeled: FloatArray

    @classmethod
    def of(cls, shapes: Shapes) -> Distributions:
        """The distributions as they were."""
        return cls(
            shapes=shapes,
            positives=shapes.shares(shapes.positives),
            negatives=shapes.shares(shapes.negatives),
            labeled=shapes.shares(shapes.labeled),
        )

    def same(self, _: FloatArray) -> Prediction:
        """All rows score as before."""
        return Prediction(positives=self.positives, negatives=self.negatives, labeled=self.labeled)

    def positives_moved(self, own: FloatArray) -> Prediction:
        """Positives, and with them confirmed rows, score elsewhere."""
        there = self.shapes.tilted(self.positives, own)
        return replace(self.labeled_moved(own), positives=there)

    def negatives_moved(self, own: FloatArray) -> Prediction:
        """Scores of negatives are shifted and stretched."""
        there = self._moved(self.shapes.negatives, own)
        return Prediction(positives=self.positives, negatives=there, labeled=self.labeled)

    def all_moved(self, own: FloatArray) -> Prediction:
        """One shift and stretch applies to all scores."""
        there = self._moved(self.shapes.positives, own)
        others = self._moved(self.shapes.negatives, own)
        labeled = self._moved(self.shapes.labeled, own)
        return Prediction(positives=there, negatives=others, labeled=labeled)

    def labeled_mixed(self, own: FloatArray) -> Prediction:
        """A share of the confirmed rows scores like any row, as where a join is wrong."""
        share = min(max(float(own[0]), 0.0), 1.0)
        everything = self.shapes.shares(self.shapes.everything)
        return replace(self.same(own), labeled=(1 - share) * self.labeled + share * everything)

    def labeled_moved(self, own: FloatArray) -> Prediction:
        """Confirmed rows alone score elsewhere."""
        return replace(self.same(own), labeled=self.shapes.tilted(self.labeled, own))

    def _moved(self, shape: Shape, own: FloatArray) -> FloatArray:
        return self.shapes.shares(shape, shift=own[0], log_stretch=own[1])
