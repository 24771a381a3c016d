"""Rules that go by the clock: late results, rows that are gone, and audits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pumonitor.monitor.rules.alerts.rule import Condition
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.plain_text import shown_duration
from pumonitor.ports import Window
from pumonitor.text import moment_text, probability_text

if TYPE_CHECKING:
    from pumonitor.audit.fairness import Fairness
    from pumonitor.monitor.ledger.records.audits import ReadAudit

FAIRNESS_LEVEL: Final = 0.05 / 4
"""Of the check of fair labels at each of four looks, at a quarter, half, three quarters, all."""

_LEAST_READ: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockView:
    """What is known of a monitor at a moment, once it has results.

    Attributes
    ----------
    now : datetime
    newest : Window
        The last with results, which the alert is shown at.
    first : datetime
        Start of the first window.
    oldest_due : datetime or None
        Earliest moment of the panes that are due and not evaluated.
    have_stopped : bool
        Whether predictions have stopped, so that no window is due.
    lost_rows : callable
        Returns the starts of the windows that have lost rows or labels, the newest last.
    audits : callable
        Returns all audits, read or not.
    fairness : callable
        Tests whether the confirmations of an audit follow the score.
    """

    now: datetime
    newest: Window
    first: datetime
    oldest_due: datetime | None = None
    have_stopped: bool = False
    lost_rows: Callable[[], Sequence[datetime]] = tuple
    audits: Callable[[], Sequence[ReadAudit]] = tuple
    fairness: Callable[[ReadAudit], Fairness]


_Found = tuple[EvidenceKind, float | None, str]


class ClockCondition(Condition):
    """A condition that is evaluated by the clock, as it belongs to no single window."""

    __slots__ = ()

    goes_by_the_clock = True
    limit: float = 0.0

    def evidence_now(self, view: ClockView) -> Evidence:
        """Evidence that is shown at the newest window."""
        kind, value, reason = self._test(view)
        return Evidence(window=view.newest, kind=kind, value=value, limit=self.limit, reason=reason)

    def metrics(self, metric: str) -> tuple[str, ...]:
        """None: it reads no results."""
        return ()

    @abstractmethod
    def _test(self, view: ClockView) -> _Found:
        """Kind of the evidence, its value and its reason."""

    def overdue_from(self, newest: Window) -> datetime | None:
        """When it fires if there is no new result; None where once a day is looked."""
        del newest
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateResults(ClockCondition):
    """Breach: results are overdue by more than `limit` seconds.

    They are overdue if a due pane is not evaluated, or if the window after the last one should have
    been evaluated. The second does not apply when predictions have stopped, which other rules
    report.
    """

    limit: float

    @property
    def _allowed(self) -> timedelta:
        return timedelta(seconds=self.limit)

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"results are overdue by more than {shown_duration(self._allowed)}"

    def _test(self, view: ClockView) -> _Found:
        window = view.newest
        overdue = view.now - window.end - (window.end - window.start)
        if view.have_stopped:
            overdue = timedelta()
        if view.oldest_due is not None:
            overdue = max(overdue, view.now - view.oldest_due)
        late = max(overdue, timedelta())
        kind: EvidenceKind = "breach" if overdue > self._allowed else "good"
        if not late:
            return kind, 0.0, "results are not overdue"
        by = shown_duration(timedelta(minutes=round(late.total_seconds() / 60)))
        reason = f"results are {by} overdue, and {shown_duration(self._allowed)} are allowed"
        return kind, late.total_seconds(), reason

    def overdue_from(self, newest: Window) -> datetime:
        """When results will be overdue by more than allowed without a new evaluation."""
        return 2 * (newest.end - newest.start) + newest.start + self._allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class VanishedRows(ClockCondition):
    """Breach: rows or labels are gone that were counted."""

    fires = "rows or labels are gone that were counted before"

    def _test(self, view: ClockView) -> _Found:
        lost = view.lost_rows()
        if not lost:
            return "good", 0.0, "no rows are gone that were counted"
        number = len(lost)
        reason = (
            f"{number} window{' has' if number == 1 else 's have'} lost rows or labels that were "
            f"counted, the newest that of {moment_text(lost[-1])}: earlier results stay, and "
            "pumonitor doctor says what is gone"
        )
        return "breach", float(number), reason


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueAudit(ClockCondition):
    """Breach: no audit has been drawn for `limit` seconds, or since the first window."""

    limit: float

    @property
    def _every(self) -> str:
        return shown_duration(timedelta(seconds=self.limit))

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"no audit has been drawn for {self._every}"

    def _test(self, view: ClockView) -> _Found:
        drawn = max((audit.drawn_at for audit in view.audits()), default=None)
        passed = view.now - (view.first if drawn is None else drawn)
        since = "there has been no audit" if drawn is None else "the last audit was drawn"
        ago = f"for {_days(passed)}" if drawn is None else f"{_days(passed)} ago"
        seconds = passed.total_seconds()
        if seconds > self.limit:
            reason = f"{since} {ago}, and one is meant every {self._every}: draw the next one"
            return "breach", seconds, reason
        return "good", seconds, f"{since} {ago}; one is meant every {self._every}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadAudit(ClockCondition):
    """Breach: cases of an audit have no verdict `limit` seconds after the draw."""

    limit: float

    @property
    def fires(self) -> str:
        """When the rule fires."""
        after = shown_duration(timedelta(seconds=self.limit))
        return f"cases of an audit have no verdict {after} after the draw"

    def _test(self, view: ClockView) -> _Found:
        for audit in view.audits():
            passed = view.now - audit.drawn_at
            if audit.unread and passed.total_seconds() > self.limit:
                reason = (
                    f"{audit.unread} of {audit.cases} cases of the audit {audit.name} have no "
                    f"verdict {_days(passed)} after the draw: review them, or draw fewer cases "
                    "next time"
                )
                return "breach", passed.total_seconds(), reason
        return "good", 0.0, "no case waits for a verdict too long"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingVerdicts(ClockCondition):
    """Breach: more than `limit` cases of an audit have verdicts that contradict each other."""

    limit: float

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"more than {self.limit:g} cases of an audit have contradicting verdicts"

    def _test(self, view: ClockView) -> _Found:
        worst = max(view.audits(), key=lambda audit: audit.conflicts, default=None)
        value = 0.0 if worst is None else float(worst.conflicts)
        if worst is None or value <= self.limit:
            reason = f"at most {value:g} cases of an audit have contradicting verdicts"
            return "good", value, reason
        reason = (
            f"{worst.conflicts} cases of the audit {worst.name} have verdicts that contradict each "
            "other and count as undecided: settle them by a later verdict of the same reviewer"
        )
        return "breach", value, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfairConfirmations(ClockCondition):
    """Breach: the last audit that is read to a quarter says that confirmations follow the score."""

    fires = "an audit says that confirmations follow the score (level .05)"
    limit = FAIRNESS_LEVEL

    def _test(self, view: ClockView) -> _Found:
        read = [
            audit
            for audit in view.audits()
            if audit.cases and 1 - audit.unread / audit.cases >= _LEAST_READ
        ]
        if not read:
            return "insufficient", None, "no audit has a verdict on a quarter of its cases"
        last, found = read[-1], view.fairness(read[-1])
        if found.p_value > FAIRNESS_LEVEL:
            reason = (
                f"the audit {last.name} does not say that confirmations follow the score "
                f"({probability_text(found.p_value)})"
            )
            return "good", found.p_value, reason
        reason = (
            f"{found.sentence}, by the audit {last.name} ({probability_text(found.p_value)}): find "
            "out who decides what is confirmed; estimates of the audit allow for it, those of "
            "segments with fewer than ten of its cases do not"
        )
        return "breach", found.p_value, reason


def _days(passed: timedelta) -> str:
    return shown_duration(timedelta(days=max(passed.days, 0)))
