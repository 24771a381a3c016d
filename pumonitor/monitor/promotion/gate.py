"""What the gate answers: whether a challenger is surely better than the deployed version."""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import Field

from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import Evidence
from pumonitor.views.model import View

Verdict = Literal["better", "worse", "not yet", "cannot be judged"]


class GateAnswer(View):
    """What the gate says of a challenger: only one that is surely better is promoted."""

    verdict: Verdict
    reason: str = Field(description="One sentence with the numbers.")
    evidence: Evidence | None = Field(description="Null before there is a window to compare.")
    champion_version: str | None = Field(
        description="Version that the challenger was compared with; null if there was no champion "
        "alias yet."
    )
    challenger_version: str | None = Field(description="Null if it is no version of the registry.")


class GateOf(Protocol):
    """Asks the gate of a monitor about one of its challengers, from what is stored."""

    def __call__(
        self, configuration: Configuration, monitor: Monitor, *, ledger: Ledger, challenger: str
    ) -> GateAnswer:
        """Return the gate's answer as of now."""
