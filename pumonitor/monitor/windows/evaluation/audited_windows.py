"""What the audits of a monitor say at one of its windows, and how it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.audit.window_reading import WindowReading
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.results import Finding
from pumonitor.reviews.earlier import EarlierWindows
from pumonitor.tables import ScoreTable

__all__ = ["NO_AUDIT", "WindowAudits", "not_used", "read_again", "which_windows"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowAudits:
    """What the audits of a monitor say at one window.

    Attributes
    ----------
    reading : WindowReading or None
        None where there is no audited estimate.
    used : tuple of mappings
        The audits that it stands on: name, digest and number of decided cases.
    findings : tuple of Finding
    share_read : float or None
        Of the cases of the audit that was drawn from the window, alone or with others, those with
        a verdict.
    """

    reading: WindowReading | None = None
    used: tuple[Mapping[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()
    share_read: float | None = None

    def to_json(self) -> dict[str, Any]:
        """What an evaluation was made with, beside the seed; nothing without a reading."""
        if self.reading is None:
            return {}
        return {"audit": self.reading.to_dict(), "audits": [dict(one) for one in self.used]}


NO_AUDIT: Final = WindowAudits()


def read_again(evaluation: Mapping[str, Any], table: ScoreTable | None) -> EstimatesByBin | None:
    """What audits or reviews said of a stored evaluation, to the last digit.

    None if neither was asked.

    Parameters
    ----------
    evaluation : mapping
        As stored.
    table : ScoreTable or None
        That of the series, which holds what reviews said.
    """
    made_with = evaluation["made_with"]
    if "reviews" in made_with and table is not None:
        how, earlier = HowReviewed.from_json(made_with["reviews"]), made_with.get("earlier")
        return how.read(
            table,
            threshold=evaluation["settings"]["threshold"],
            is_early=evaluation["state"] == "provisional",
            earlier=None if earlier is None else EarlierWindows.from_json(earlier),
        )
    if "audit" not in made_with:
        return None
    return WindowReading.from_dict(made_with["audit"]).read(seed=made_with["seed"])


def which_windows(audit: Mapping[str, Any]) -> str:
    """Which windows the audit of a stored evaluation was drawn from, seen from its own window.

    Parameters
    ----------
    audit : mapping
        What the evaluation was made with (`WindowReading.to_dict`).

    Examples
    --------
    >>> which_windows({"method": "audit carried", "of_window": True})
    'several windows, this one among them'
    >>> which_windows({"method": "audit carried", "of_window": False})
    'other windows'
    """
    if audit["method"] == "audit":
        return "this window"
    # Evaluations of before this was kept do not say so.
    among = audit.get("of_window", False)
    return "several windows, this one among them" if among else "other windows"


def not_used(why: str) -> Finding:
    """Why an audit that was read says nothing of a window."""
    return Finding(
        name="auditnot_used",
        severity="warning",
        sentence=f"Audits are not used in this window: {why}.",
    )
