"""Reviewed cases of rows that one model flags and the other does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.gate.stakes import STAKES, averaged, lower_end

_REFUTED: Final = 1e6
"""Gain on a pair where no number of positives that is left would do."""
_LARGEST_LOG: Final = 690.0


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

    @property
    def positives(self) -> float:
        """How many there are, as far as is known."""
        reviewed = len(self.verdicts)
        return self.confirmed + (self.unlabeled * sum(self.verdicts) / reviewed if reviewed else 0)


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
    def pairs(self) -> int:
        """Cases of either side that have one of the other."""
        return min(len(self.challenger.verdicts), len(self.champion.verdicts))

    @property
    def found_more(self) -> float:
        """Positives that the challenger finds more than the champion, as far as is known."""
        return self.challenger.positives - self.champion.positives

    def reversed(self) -> AuditedBetween:
        """With the two models exchanged."""
        return AuditedBetween(
            flagged=self.flagged, challenger=self.champion, champion=self.challenger
        )

    def log_gains(self, difference: float) -> FloatArray:
        """Of each stake, on the challenger finding more than so many positives more.

        Cases are drawn without replacement, so that what was seen tells of what is left: a pair is
        bet on at the highest mean that it can still have if the challenger finds no more.
        """
        won, lost = self.challenger, self.champion
        drawn = np.arange(self.pairs)
        first, second = (
            np.asarray(one.verdicts[: self.pairs], dtype=np.float64) for one in (won, lost)
        )
        seen, seen_lost = (np.cumsum(one) - one for one in (first, second))
        known = won.confirmed - lost.confirmed
        most = won.unlabeled - (drawn - seen)
        most_lost = lost.unlabeled - (drawn - seen_lost)
        # Positives of the one side less those of the other, at most.
        more = difference - known
        left, left_lost = won.unlabeled - drawn, lost.unlabeled - drawn

        def mean(positives: FloatArray, positives_lost: FloatArray) -> FloatArray:
            ahead = won.unlabeled * (positives - seen) / left
            behind = lost.unlabeled * (positives_lost - seen_lost) / left_lost
            return np.asarray(ahead - behind + known)

        # The mean is linear in both, so that it is highest in a corner of what is possible.
        fewest = mean(np.minimum(most, seen_lost + more), seen_lost)
        top = np.minimum(most, most_lost + more)
        largest = mean(top, np.maximum(seen_lost, top - more))
        highest = np.maximum(fewest, largest)
        worst = known - lost.unlabeled
        pair = won.unlabeled * first - lost.unlabeled * second + known
        at_risk = np.maximum(highest - worst, 1e-9)
        gains = np.where(top < seen, _REFUTED, (pair - highest) / at_risk)
        return np.asarray(np.log1p(np.maximum(gains, -1.0)[:, np.newaxis] * STAKES).sum(axis=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvidence:
    """The challenger's precision less the champion's, at equal capacity, by audits between them.

    Both flag as many rows, so that the difference of recall has the same sign, and the share of
    positives is not needed. The cases of each side are paired in the order in which they were
    drawn, and bet on as in `MeanEvidence`; confirmed positives of each side are known and counted,
    whoever chose them. Wrong where verdicts are, and where cases were left without one for what
    they are.

    Attributes
    ----------
    audits : tuple of AuditedBetween

    References
    ----------
    Waudby-Smith and Ramdas (2020), "Confidence sequences for sampling without replacement".

    Examples
    --------
    >>> audit = AuditedBetween(
    ...     flagged=1000,
    ...     challenger=Side(unlabeled=200, confirmed=0, verdicts=(1, 0, 1, 1) * 10),
    ...     champion=Side(unlabeled=190, confirmed=10, verdicts=(0, 0, 1, 0) * 10),
    ... )
    >>> found = AuditEvidence.of([audit])
    >>> round(found.mean, 4), round(found.lower(error=0.025), 3), round(found.upper(error=0.025), 3)
    (0.0925, 0.048, 0.134)
    """

    audits: tuple[AuditedBetween, ...]

    @classmethod
    def of(cls, audits: Sequence[AuditedBetween]) -> AuditEvidence:
        """Check the audits.

        Raises
        ------
        InputError
            If a verdict is neither 0 nor 1, there are more than rows, or no rows are flagged.
        """
        for one in audits:
            sides = (one.challenger, one.champion)
            wrong = sum(verdict not in (0, 1) for side in sides for verdict in side.verdicts)
            if wrong:
                msg = f"verdicts must be 0 or 1: {wrong} of {one.reviewed} are neither"
                raise InputError(msg)
            if any(len(side.verdicts) > side.unlabeled for side in sides) or one.flagged < 1:
                msg = "an audit between models has more verdicts than rows that one model flags"
                raise InputError(msg)
        return cls(audits=tuple(audits))

    @property
    def mean(self) -> float | None:
        """The difference of precision; None without pairs of cases."""
        there = [one for one in self.audits if one.pairs]
        if not there:
            return None
        return sum(one.found_more for one in there) / sum(one.flagged for one in there)

    def capital(self, mean: float = 0.0) -> float:
        """What 1 has become of bets that the difference is above this value; at most 1e300."""
        return float(np.exp(min(self._log_capital(mean), _LARGEST_LOG)))

    def lower(self, *, error: float) -> float:
        """Lower end of the interval; the difference is ever below it with probability `error`."""
        if self.mean is None:
            return -1.0
        return lower_end(self._log_capital, lowest=-1.0, inside=self.mean, error=error)

    def upper(self, *, error: float) -> float:
        """Upper end of the interval."""
        return -AuditEvidence(audits=tuple(one.reversed() for one in self.audits)).lower(
            error=error
        )

    def _log_capital(self, mean: float) -> float:
        gains = [one.log_gains(mean * one.flagged) for one in self.audits]
        return float(averaged(np.sum(gains, axis=0))) if gains else 0.0
