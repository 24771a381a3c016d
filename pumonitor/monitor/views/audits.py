"""Audits of a monitor, and how far they are."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pumonitor.text import day_text
from pumonitor.views.model import Moment, View


class AuditStatusView(View):
    """An audit, and how far verdicts on it were read."""

    audit: str
    monitor: str
    model_version: str
    window_start: Moment = Field(description="Start of the first of its windows.")
    window_end: Moment = Field(description="End of the last.")
    windows: int
    drawn_at: Moment
    drawn_by: str
    is_current: bool = Field(description="Whether the configuration of today uses it.")
    changes: list[str] = Field(
        description="Why it does not: what changed of rows, scores, threshold and labels."
    )
    fair: Literal["check", "assume"]
    cases: int
    decided: int
    positive: int
    undecided: int
    conflicts: int = Field(description="Cases with verdicts that contradict each other.")
    unread: int
    seeds: int = Field(description="Lines of its file that are known positives.")
    seeds_decided: int
    seeds_found: int
    twice: int = Field(description="Lines of its file that are second copies.")
    read_at: Moment | None = Field(description="When verdicts were last read.")
    refused: dict[str, int] = Field(
        description="Reason to number of verdicts that could not be used, in the last reading of "
        "each source."
    )


class BetweenAuditView(View):
    """How far an audit between the deployed model and a challenger is."""

    name: str
    challenger: str = Field(description="Its name, and what scored it.")
    drawn_at: Moment
    cases: int
    judged: int = Field(description="Cases that somebody has judged.")

    @property
    def sentence(self) -> str:
        """In words."""
        return (
            f"Audit {self.name} between champion and {self.challenger}, drawn on "
            f"{day_text(self.drawn_at)}: {self.judged} of {self.cases} cases read; "
            "pumonitor challenge says what follows."
        )


class AuditsView(View):
    """The audits of a monitor."""

    monitor: str
    audits: list[AuditStatusView] = Field(description="In the order of their first windows.")
    between: list[BetweenAuditView] = Field(
        description="Between the deployed model and a challenger, in the order of the draw."
    )
    next_due: Moment | None = Field(
        description="When the next one is due; null unless the configuration says how often."
    )
    refused: dict[str, int] = Field(
        description="Refused verdicts that belong to no audit of the monitor."
    )

    @property
    def newest_decided(self) -> str:
        """Name of the audit that was drawn last of those with a decided case, else of all."""
        return max(self.audits, key=lambda audit: (audit.decided > 0, audit.drawn_at)).audit

    def waiting_since(self, name: str) -> list[str]:
        """Names of audits without a decided case that were drawn after another."""
        (shown,) = (audit for audit in self.audits if audit.audit == name)
        return [
            audit.audit
            for audit in sorted(self.audits, key=lambda audit: audit.drawn_at)
            if audit.drawn_at > shown.drawn_at and not audit.decided
        ]
