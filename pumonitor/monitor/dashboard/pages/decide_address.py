"""What the address of the decide page asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from pumonitor.decisions import MOST_CASES
from pumonitor.errors import InputError, shortened
from pumonitor.monitor.dashboard.address import moment_in, number_in
from pumonitor.monitor.page_addresses import version_read

PER: Final = {"window": "cases a window", "day": "cases a day", "share": "% of cases"}
"""What a review capacity is of."""

_CASES: Final = 300
_LONGEST: Final = 400
_CURRENCY: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideAddress:
    """Which evidence, which threshold, and what is at stake.

    Attributes
    ----------
    model_version : str or None
        None for that of the newest mature window.
    segment : str
    until : datetime or None
        The newest mature window that starts before is taken.
    threshold : float or None
        Another threshold to look at.
    capacity : float or None
        In place of it: how much can be reviewed.
    per : {"window", "day", "share"}
        What the capacity is of.
    value, cost : float or None
    currency : str
        Is only shown.
    cases : int
        Of the random reviews that are compared.
    """

    model_version: str | None
    segment: str
    until: datetime | None
    threshold: float | None
    capacity: float | None
    per: str
    value: float | None
    cost: float | None
    currency: str
    cases: int

    @classmethod
    def read(cls, query: Mapping[str, str], *, zone: ZoneInfo) -> DecideAddress:
        """From a query.

        Raises
        ------
        InputError
            If a value cannot be read, or two of them exclude each other.
        """
        threshold, capacity = _number(query, "threshold"), _number(query, "capacity", least=0.0)
        if threshold is not None and capacity is not None:
            msg = "give threshold or capacity, not both: leave one of the two fields empty"
            raise InputError(msg)
        per = query.get("per") or "window"
        if per not in PER:
            msg = f"per must be window, day or share, got {shortened(per)!r}"
            raise InputError(msg)
        if per == "share" and capacity is not None and capacity > 100:
            msg = f"capacity must be at most 100%, got {capacity:g}"
            raise InputError(msg)
        value, cost = _number(query, "value", least=0.0), _number(query, "cost", least=0.0)
        if (value is None) != (cost is None):
            msg = "money needs both the value of a caught positive and the cost of a review"
            raise InputError(msg)
        return cls(
            model_version=version_read(_short(query, "version")),
            segment=_short(query, "segment"),
            until=moment_in(query, "until", zone=zone),
            threshold=threshold,
            capacity=capacity,
            per=per,
            value=value,
            cost=cost,
            currency=_short(query, "currency")[:_CURRENCY].strip(),
            cases=_whole(query, "cases", _CASES, most=MOST_CASES),
        )

    def key(self) -> tuple[Any, ...]:
        """What the numbers depend on beside the evidence."""
        return (
            *(self.threshold, self.capacity, self.per),
            *(self.value, self.cost, self.currency, self.cases),
        )


def _short(query: Mapping[str, str], name: str) -> str:
    given = query.get(name, "")
    if len(given) > _LONGEST:
        msg = f"{name} must have at most {_LONGEST} characters, got {len(given)}"
        raise InputError(msg)
    return given


def _number(query: Mapping[str, str], name: str, *, least: float = -math.inf) -> float | None:
    given = query.get(name, "").strip()
    if not given:
        return None
    try:
        found = float(given)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and least <= found < 1e15):
        kind = "a number" if least == -math.inf else f"a number from {least:g} on"
        msg = f"{name} must be {kind}, got {shortened(given)!r}"
        raise InputError(msg)
    return found


def _whole(query: Mapping[str, str], name: str, usual: int, *, most: int) -> int:
    given = query.get(name, "").strip() or str(usual)
    return number_in({name: given}, name, usual=usual, most=most)
