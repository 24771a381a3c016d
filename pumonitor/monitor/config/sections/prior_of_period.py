"""A class prior given for one period: with its interval, or as the result of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pumonitor.monitor.config.values.periods import span_of
from pumonitor.text import given_text, number_text, with_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorOfPeriod:
    """The class prior of one period, from another source than scores and confirmations.

    Windows are followed from this level. Nothing is assumed about other periods.

    Attributes
    ----------
    value, low, high : float
        Class prior and its 95% interval: 0 < low <= value <= high < 1 and low < high.
    start, end : date or datetime
        The period; `end` is excluded.
    positives, cases : int or None
        Result of an audit: positives among the audited cases.

    Examples
    --------
    >>> known = PriorOfPeriod(
    ...     value=0.03, low=0.02, high=0.04, start=date(2026, 1, 1), end=date(2026, 2, 1)
    ... )
    >>> known.span("UTC")[1].isoformat()
    '2026-02-01T00:00:00+00:00'
    """

    value: float
    low: float
    high: float
    start: date
    end: date
    positives: int | None = None
    cases: int | None = None

    def span(self, zone: str) -> tuple[datetime, datetime]:
        """Start and end in UTC; dates and times without a zone are the monitor's."""
        return span_of(self.start, self.end, zone=zone)

    def meaning(self, zone: str) -> dict[str, Any]:
        """The values that results depend on, in JSON types.

        For an audit these are its counts, as the last digits of an interval differ by machine.
        """
        known: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        if self.cases is not None:
            known = {"positives": self.positives, "cases": self.cases}
        return {**known, "of": [moment.isoformat() for moment in self.span(zone)]}

    def said(self) -> str:
        """Describe the class prior and its period in words.

        Examples
        --------
        >>> audit = audited_prior(12, 300, start=date(2026, 1, 1), end=date(2026, 2, 1))
        >>> audit.said()
        '12 of 300 cases of 2026-01-01 to 2026-02-01, which is 0.0405 (0.0220 to 0.0667)'
        """
        as_text = given_text if self.cases is None else number_text
        share = with_interval(self.value, self.low, self.high, as_text=as_text)
        period = f"of {self.start} to {self.end}"
        if self.cases is None:
            return f"{share} {period}"
        return f"{self.positives:,} of {self.cases:,} cases {period}, which is {share}"


def shown_meaning(meaning: Mapping[str, Any]) -> str:
    """Describe the result of `PriorOfPeriod.meaning` in words.

    Examples
    --------
    >>> of = ["2025-12-31T23:00:00+00:00", "2026-01-31T23:00:00+00:00"]
    >>> shown_meaning({"value": 0.03, "low": 0.02, "high": 0.04, "of": of})
    '0.03 (0.02 to 0.04) of 2025-12-31T23:00:00+00:00 to 2026-01-31T23:00:00+00:00'
    """
    start, end = (moment.removesuffix("T00:00:00+00:00") for moment in meaning["of"])
    period = f"of {start} to {end}"
    if "cases" in meaning:
        return f"{meaning['positives']} of {meaning['cases']} cases {period}"
    share = (meaning[end] for end in ("value", "low", "high"))
    return f"{with_interval(*share, as_text=given_text)} {period}"


def audited_prior(positives: int, cases: int, *, start: date, end: date) -> PriorOfPeriod:
    """Class prior of a period from an audit, with Jeffreys' interval.

    The interval is too narrow if cases were not drawn at random from all rows, or if several belong
    to one entity.

    Parameters
    ----------
    positives, cases : int
        0 <= positives <= cases and cases > 0; cases include rows that were already confirmed.
    start, end : date or datetime
        The period; `end` is excluded.

    Examples
    --------
    >>> none = audited_prior(0, 300, start=date(2026, 1, 1), end=date(2026, 2, 1))
    >>> f"{none.value:.5f} {none.low:.7f} {none.high:.4f}"
    '0.00076 0.0000016 0.0083'
    """
    # Loads scipy only if there is an audit.
    from pumonitor.stats.audited_share import jeffreys_interval

    value, low, high = jeffreys_interval(positives, cases)
    return PriorOfPeriod(
        value=value, low=low, high=high, start=start, end=end, positives=positives, cases=cases
    )
