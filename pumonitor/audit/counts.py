"""What an audit is made of: its design before anybody looks, and what was found after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pumonitor._arrays import FloatArray, IntArray
from pumonitor.audit.bins import ScoreBins
from pumonitor.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditDesign:
    """From which score bins an audit draws, and how many cases from each.

    Attributes
    ----------
    bins : ScoreBins
        Edges, rows and confirmed positives by bin, as counted when the audit was drawn.
    planned : ndarray of shape (bins,)
        Unlabeled rows m to draw by bin.
    seed : str
        Key of the order in which the rows of a bin are drawn.

    Raises
    ------
    InputError
        Unless 0 <= planned <= rows - labeled in every bin.
    """

    bins: ScoreBins
    planned: IntArray
    seed: str = ""

    def __post_init__(self) -> None:
        if np.any(self.planned < 0) or np.any(self.planned > self.bins.unlabeled):
            msg = "planned cases must satisfy 0 <= planned <= rows - labeled in every bin"
            raise InputError(msg)

    @property
    def inclusion(self) -> FloatArray:
        """pi: the probability with which an unlabeled row of each bin is drawn."""
        return np.asarray(self.planned / np.maximum(self.bins.unlabeled, 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditCounts:
    """All that the likelihood reads, by score bin.

    Attributes
    ----------
    bins : ScoreBins
        Rows N and confirmed positives L. A row that the audit found positive is no confirmation:
        it is not in L.
    decided, positive : ndarray of shape (bins,)
        m, the drawn rows with a verdict, and h, those of them that are positive.
    undecided : ndarray of shape (bins,)
        Drawn rows without a verdict.

    Raises
    ------
    InputError
        Unless 0 <= labeled, 0 <= positive <= decided and labeled + decided + undecided <= rows.
    """

    bins: ScoreBins
    decided: IntArray
    positive: IntArray
    undecided: IntArray

    def __post_init__(self) -> None:
        rules = {
            "0 <= labeled": self.bins.labeled >= 0,
            "0 <= positive <= decided": (self.positive >= 0) & (self.positive <= self.decided),
            "0 <= undecided": self.undecided >= 0,
            "labeled + decided + undecided <= rows": self.undrawn >= 0,
        }
        for rule, holds in rules.items():
            if not np.all(holds):
                at = int(np.argmin(holds))
                msg = f"counts of an audit must satisfy {rule}; they do not in bin {at}"
                raise InputError(msg)

    @classmethod
    def of(
        cls, bins: ScoreBins, *, decided: ArrayLike, positive: ArrayLike, undecided: ArrayLike = 0
    ) -> AuditCounts:
        """Counts from anything like an array; a single number holds for every bin."""
        shape = bins.rows.shape
        given = [
            np.broadcast_to(np.asarray(one, dtype=np.int64), shape)
            for one in (decided, positive, undecided)
        ]
        return cls(bins=bins, decided=given[0], positive=given[1], undecided=given[2])

    @property
    def rows(self) -> IntArray:
        """N by bin."""
        return self.bins.rows

    @property
    def labeled(self) -> IntArray:
        """L by bin."""
        return self.bins.labeled

    @property
    def undrawn(self) -> IntArray:
        """Unlabeled rows that were not drawn."""
        return self.bins.unlabeled - self.decided - self.undecided
