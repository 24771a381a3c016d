"""Reviewed cases of rows that one model flags and the other does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.gate.mean_evidence import MeanEvidence

__all__ = ["AuditedBetween", "Side", "precision_difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Rows that one of the models alone has among its highest ones.

    Attributes
    ----------
    unlabeled : int
        Rows that cases were drawn from, each with the same chance.
    confirmed : int
        Confirmed positives, which no case is drawn from.
    verdicts : tuple of int
        1 or 0, of the cases with a verdict, in the order in which they were drawn.
    """

    unlabeled: int
    confirmed: int
    verdicts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedBetween:
    """An audit between two models.

    Attributes
    ----------
    flagged : int
        Rows that each model flags.
    challenger, champion : Side
        Rows that this model alone flags.
    """

    flagged: int
    challenger: Side
    champion: Side

    @property
    def reviewed(self) -> int:
        """Cases with a verdict."""
        return len(self.challenger.verdicts) + len(self.champion.verdicts)

    @property
    def largest(self) -> int:
        """Rows that one model alone flags, of the one with more of them."""
        return max(one.unlabeled + one.confirmed for one in (self.challenger, self.champion))

    def pairs(self) -> NDArray[np.float64]:
        """Positives that the challenger finds more, as each pair of cases alone would have it."""
        of = min(len(self.challenger.verdicts), len(self.champion.verdicts))
        won, lost = (
            one.confirmed + one.unlabeled * np.asarray(one.verdicts[:of], dtype=np.float64)
            for one in (self.challenger, self.champion)
        )
        return np.asarray(won - lost)


def precision_difference(audits: Sequence[AuditedBetween]) -> tuple[MeanEvidence, float]:
    """Evidence of the challenger's precision less the champion's, at equal capacity, and its scale.

    Both flag as many rows, so that the difference of recall has the same sign, and the share of
    positives is not needed. The cases of each side are paired in the order in which they were
    drawn: a pair says how many positives the challenger finds more, if all rows were like its two.
    Confirmed positives of each side are known and counted, whoever chose them.

    Parameters
    ----------
    audits : sequence of AuditedBetween

    Returns
    -------
    evidence : MeanEvidence
        Of the difference divided by `scale`.
    scale : float
        Rows that one model alone flags, as a share of those it flags: precision cannot differ by
        more.

    Raises
    ------
    InputError
        If a verdict is neither 0 nor 1.

    Examples
    --------
    >>> audit = AuditedBetween(
    ...     flagged=1000,
    ...     challenger=Side(unlabeled=200, confirmed=0, verdicts=(1, 0, 1, 1) * 10),
    ...     champion=Side(unlabeled=190, confirmed=10, verdicts=(0, 0, 1, 0) * 10),
    ... )
    >>> evidence, scale = precision_difference([audit])
    >>> round(scale * evidence.mean, 4), scale
    (0.0925, 0.2)
    """
    scale = 1e-12
    for one in audits:
        wrong = sum(
            verdict not in (0, 1)
            for side in (one.challenger, one.champion)
            for verdict in side.verdicts
        )
        if wrong or one.flagged < 1:
            msg = f"verdicts must be 0 or 1 and some rows flagged: {wrong} verdicts are neither"
            raise InputError(msg)
        scale = max(scale, one.largest / one.flagged)
    windows = [one.pairs() / one.flagged / scale for one in audits]
    return MeanEvidence.of([np.clip(one, -1.0, 1.0) for one in windows]), scale
