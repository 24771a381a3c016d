"""What the gate answers: whether a challenger is surely better than the deployed version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import Evidence

Verdict = Literal["better", "worse", "not yet", "cannot be judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """What the gate says of a challenger.

    Attributes
    ----------
    verdict : {"better", "worse", "not yet", "cannot be judged"}
        Only a challenger that is surely better is promoted.
    reason : str
        One sentence with the numbers.
    evidence : Evidence or None
        None before there is a window to compare.
    champion_version : str or None
        Version that the challenger was compared with; None if there was no champion alias yet.
    challenger_version : str or None
        None if it is no version of the registry.
    """

    verdict: Verdict
    reason: str
    evidence: Evidence | None
    champion_version: str | None
    challenger_version: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
            "champion_version": self.champion_version,
            "challenger_version": self.challenger_version,
        }


class GateOf(Protocol):
    """Asks the gate of a monitor about one of its challengers, from what is stored."""

    def __call__(
        self, configuration: Configuration, monitor: Monitor, *, ledger: Ledger, challenger: str
    ) -> GateAnswer:
        """Return the gate's answer as of now."""
