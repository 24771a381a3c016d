"""What two periods show whatever changed between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pumonitor.monitor.rules.causes.named import Size, is_clear
from pumonitor.monitor.rules.causes.period import Period

NOTICED: Final = 0.05
"""Smallest change of AUC that matters in practice."""

_LEAST: Final = 1e-9


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
    def is_confirmed_otherwise(self) -> bool:
        """Whether another share of all rows is confirmed, by its interval."""
        return not self.confirmed.low <= 1 <= self.confirmed.high

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

    def shows_most(self, sizes: Mapping[str, Size]) -> str | None:
        """The change that is clearest: "auc", "confirmed", "score"; None if nothing is clear.

        A change of AUC that nobody would notice goes behind confirmed rows, and the move of all
        scores counts only if there are enough confirmed rows to show what they do.
        """
        confirmed = self.confirmed
        reached = {
            "auc": _reached(sizes["auc"]) if "auc" in sizes else 0.0,
            "confirmed": _reached(
                replace(
                    confirmed,
                    change=math.log(max(confirmed.change, _LEAST)),
                    low=math.log(max(confirmed.low, _LEAST)),
                    high=math.log(max(confirmed.high, _LEAST)),
                )
            ),
        }
        if reached["confirmed"] > 1 and "auc" in sizes and abs(sizes["auc"].change) < NOTICED:
            return "confirmed"
        most = max(reached, key=lambda name: reached[name])
        if reached[most] > 1:
            return most
        return "score" if self.labeled >= self.needed and is_clear(sizes, "score") else None


def _reached(size: Size) -> float:
    """How far a change is from none, in half-widths of its interval; above 1 where it is clear."""
    half = size.change - size.low if size.change > 0 else size.high - size.change
    return abs(size.change) / max(half, _LEAST)
