"""What two periods show whatever changed between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor.monitor.rules.causes.named import Size
from pumonitor.monitor.rules.causes.period import Period

__all__ = ["NOTICED", "Observed"]

NOTICED: Final = 0.05
"""Smallest change of AUC that matters in practice."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """What is known of the two periods under every hypothesis.

    Attributes
    ----------
    before, now : Period
    class_prior : float
        Of the reference.
    confirmed : Size
        Ratio of the confirmed positives' share of all rows, now over before.
    needed : int
        Confirmed positives needed to show a change of AUC by `NOTICED`.
    """

    before: Period
    now: Period
    class_prior: float
    confirmed: Size
    needed: int

    @property
    def windows(self) -> int:
        """Number of windows since the change."""
        return len(self.now.rows)

    @property
    def ranks_higher(self) -> bool:
        """Whether confirmed positives outrank a larger share of all rows than before."""
        then, today = (
            float(one.labeled.sum(axis=0) @ np.cumsum(one.rows.sum(axis=0)))
            / float(one.labeled.sum() * one.rows.sum())
            for one in (self.before, self.now)
        )
        return today > then

    @property
    def labeled(self) -> int:
        """Confirmed positives since the change."""
        return round(float(self.now.labeled.sum()))
