"""Rules on audits, which are evaluated by the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, Tag

from pumonitor.monitor.config.sections.rule_values import Change
from pumonitor.monitor.config.sections.rules_of_metrics import AnyRule, RuleBasis
from pumonitor.monitor.config.values.kinds import Duration, Number
from pumonitor.monitor.rules.alerts import by_clock

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.rule import Condition


class AuditOverdue(AnyRule):
    """The alert fires when no audit has been drawn for as long as `audits.every` says.

    Attributes
    ----------
    health : "audit_overdue"
        Tests the audits instead of a metric: none has been drawn in time.
    """

    health: Literal["audit_overdue"]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """No audit in time."""
        assert basis.audits_every is not None  # noqa: S101 (checked in the configuration)
        return by_clock.OverdueAudit(limit=basis.audits_every.total_seconds())


class AuditUnread(AnyRule):
    """The alert fires when cases of an audit have no verdict for too long.

    Attributes
    ----------
    health : "audit_unread"
        Tests the audits instead of a metric: cases without a verdict.
    after : timedelta
        How long after the draw cases may be without a verdict.
    """

    health: Literal["audit_unread"]
    after: Duration

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Cases without a verdict."""
        return by_clock.UnreadAudit(limit=self.after.total_seconds())


class AuditConflicts(AnyRule):
    """The alert fires when verdicts of an audit contradict each other too often.

    Attributes
    ----------
    health : "audit_conflicts"
        Tests the audits instead of a metric: verdicts that contradict each other.
    above : float
        An audit is bad when more of its cases than this have such verdicts.
    """

    health: Literal["audit_conflicts"]
    above: Annotated[Number, Field(ge=0)]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Verdicts that contradict each other."""
        return by_clock.ConflictingVerdicts(limit=self.above)

    def in_words(self, warning: Change | None) -> list[str]:
        """The limit."""
        return ["above", f"{self.above:g}"]


class UnfairLabels(AnyRule):
    """The alert fires when the last audit says that confirmations follow the score.

    Attributes
    ----------
    audit : "unfair_labels"
        Tests whether confirmed positives are a fair sample, once a quarter of the cases is read.
    """

    audit: Literal["unfair_labels"]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Confirmations that follow the score."""
        return by_clock.UnfairConfirmations()


AuditRule = (
    Annotated[AuditOverdue, Tag("health: audit_overdue")]
    | Annotated[AuditUnread, Tag("health: audit_unread")]
    | Annotated[AuditConflicts, Tag("health: audit_conflicts")]
    | Annotated[UnfairLabels, Tag("audit: unfair_labels")]
)
"""Each kind of rule on audits, with its discriminator tag."""
