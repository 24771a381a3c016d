"""Count the false alarms of rules in quiet windows, those in which nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from scipy import special

from pumonitor.monitor.alerts.inputs import alert_inputs
from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.alerts.panes import with_results
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.results.mature_results import mature_panes
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference, WindowView
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
from pumonitor.monitor.windows.evaluate import references_in
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.text import number_text

_DAYS_PER_YEAR: Final = 365.25
_SURE: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietAlarms:
    """False alarms of a rule in quiet windows.

    Attributes
    ----------
    windows : int
        Quiet windows with evidence for the rule.
    alarms : int
        Incidents that began in them.
    per_year : float
        Alarms per year at that rate.
    at_most : float
        Upper bound of the rate per year, with 95% confidence.

    Notes
    -----
    The number of alarms is assumed to be Poisson and the bound is exact: 3 alarms if there was
    none. A rule cannot have more alarms than windows.

    Examples
    --------
    >>> none = QuietAlarms.counted(0, windows=60, windows_per_year=365.25)
    >>> none.per_year, round(none.at_most, 1)
    (0.0, 18.2)
    """

    windows: int
    alarms: int
    per_year: float
    at_most: float

    @classmethod
    def counted(cls, alarms: int, *, windows: int, windows_per_year: float) -> QuietAlarms:
        """Estimate the rate from a number of alarms in one or more windows."""
        most = float(special.gammaincinv(alarms + 1, _SURE))
        return cls(
            windows=windows,
            alarms=alarms,
            per_year=alarms / windows * windows_per_year,
            at_most=min(most / windows, 1.0) * windows_per_year,
        )

    def said(self) -> str:
        """Describe the rate in words.

        Examples
        --------
        >>> QuietAlarms.counted(0, windows=60, windows_per_year=365.25).said()
        '0 in 60 windows without a change, at most 18.2 a year'
        >>> QuietAlarms.counted(2, windows=60, windows_per_year=365.25).said()
        '2 in 60 windows without a change, about 12.2 a year and at most 38.3'
        """
        several = "" if self.windows == 1 else "s"
        begun = f"{self.alarms} in {self.windows} window{several} without a change"
        if self.alarms == 0:
            return f"{begun}, at most {number_text(self.at_most)} a year"
        about, most = number_text(self.per_year), number_text(self.at_most)
        return f"{begun}, about {about} a year and at most {most}"


def rules_on_quiet_windows(
    ledger: LedgerReader, monitor: Monitor, configuration: str, *, now: datetime
) -> dict[str, QuietAlarms]:
    """Count the false alarms of each rule in the windows of the reference.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : Monitor
    configuration : str
        Hash under which its results are stored.
    now : datetime

    Returns
    -------
    dict of str to QuietAlarms
        Rule key to its count. Left out are rules on the health of the data, detectors (their rate
        is chosen), and rules without evidence in any window.
    """
    found = alert_inputs(
        monitor,
        configuration,
        ledger=ledger,
        references=references_in(ledger, FollowedPriors(ledger)),
    )
    rules = [rule for rule in found.rules if not rule.goes_by_the_clock]
    if not rules:
        return {}
    track = Track(rules, known_reference=None, scores_of=lambda pane: None)
    views = quiet_views(ledger, monitor, configuration, track)
    known_reference = found.known_reference(now)
    counted = {rule.key: quiet_alarms(rule, views, known_reference) for rule in rules}
    return {key: one for key, one in counted.items() if one is not None}


def quiet_views(
    ledger: LedgerReader, monitor: Monitor, configuration: str, track: Track
) -> list[WindowView]:
    """The mature and evaluated windows of the reference, in order of time."""
    period = baseline_period(monitor)
    with ledger.database.reading() as connection:
        seen = mature_panes(
            connection,
            monitor=monitor.name,
            configuration=configuration,
            since=period.start,
            until=period.end,
            most=period.windows,
        )
        evaluated = [one.seen for one in seen if one.seen.revision is not None]
        return [
            track.view(pane) for pane in with_results(connection, evaluated, metrics=track.metrics)
        ]


def quiet_alarms(
    rule: AlertRule, quiet: Sequence[WindowView], known_reference: KnownReference | None
) -> QuietAlarms | None:
    """Count a rule's alarms over quiet windows in their order; None without any evidence."""
    if not quiet or rule.metric.startswith("health:") or rule.condition.chosen_rate is not None:
        return None
    fold = RuleFold(rule, known_reference=always(known_reference))
    fold.refold(quiet, 0)
    with_evidence = sum(any(map(_has_evidence, found.values())) for found in fold.evidence)
    if with_evidence == 0:
        return None
    length = quiet[0].window.end - quiet[0].window.start
    return QuietAlarms.counted(
        sum(one.incident for one in fold.states[-1].values()),
        windows=with_evidence,
        windows_per_year=timedelta(days=_DAYS_PER_YEAR) / length,
    )


def _has_evidence(evidence: Evidence) -> bool:
    straddles = evidence.kind == "insufficient" and evidence.limit is not None
    return straddles or evidence.kind in ("good", "breach")


def always(known_reference: KnownReference | None) -> KnownReference | None:
    """The same reference for windows of any time, its own included."""
    if known_reference is None:
        return None
    ever = datetime.min.replace(tzinfo=UTC)
    return replace(known_reference, as_of=ever, end=ever)
