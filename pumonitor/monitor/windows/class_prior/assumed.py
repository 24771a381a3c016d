"""Check an assumed class prior against the share of rows that gets confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.records.collected import LabeledCount, StoredSeries
from pumonitor.monitor.ledger.results.labels_at_age import labels_at_age
from pumonitor.monitor.rules.labels.confirmed_share import (
    FEWEST_WINDOWS,
    ConfirmedShare,
    confirmed_beyond,
    share_moved,
)
from pumonitor.monitor.windows.class_prior.assumed_of_segments import segment_finding
from pumonitor.monitor.windows.class_prior.stored_findings import FINDING
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json, is_given
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.ports import Pane, Window
from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.text import given_text, percent_text

_LEVEL: Final = 0.001


def assumed_prior_findings(
    class_prior: ClassPriorEstimate | None,
    now: ConfirmedShare,
    before: Sequence[ConfirmedShare],
    *,
    label_purity: float,
) -> list[Finding]:
    """Findings that contradict an assumed class prior; none for other class priors.

    Parameters
    ----------
    class_prior : ClassPriorEstimate or None
    now : ConfirmedShare
        Share confirmed in the window, whose labels are mature.
    before : sequence of ConfirmedShare
        Shares confirmed in the windows it is compared with.
    label_purity : float
        Share of the confirmed positives that really are positive.

    Notes
    -----
    Chance causes a warning in fewer than one of 1,000 windows in which nothing changed
    (`pumonitor.monitor.rules.labels.confirmed_share.share_moved`).
    """
    if class_prior is None or not is_given(class_prior) or now.rows == 0:
        return []
    share = now.labeled / now.rows
    assumed = f"The class prior of {given_text(class_prior.value)} is assumed and not estimated"
    found: list[Finding] = []
    if confirmed_beyond(now, class_prior.high / label_purity) < _LEVEL:
        found.append(
            Finding(
                name=FINDING,
                severity="warning",
                sentence=(
                    f"{assumed}, and {percent_text(share)} of the rows are confirmed, which is "
                    "more than this share of positives. The class prior is too low now, and every "
                    "estimate computed with it is wrong."
                ),
            )
        )
    if share_moved(now, before) < _LEVEL:
        usual = sum(one.labeled for one in before) / sum(one.rows for one in before)
        found.append(
            Finding(
                name=FINDING,
                severity="warning",
                sentence=(
                    f"{assumed}, and {percent_text(share)} of the rows are confirmed, but "
                    f"{percent_text(usual)} were in the {len(before)} windows compared with: "
                    "either the share of positives that gets confirmed went from "
                    f"{_frequency(usual, class_prior)} to {_frequency(share, class_prior)}, or "
                    f"positives are {'more' if share > usual else 'less'} frequent than assumed "
                    "and every estimate computed with it is wrong."
                ),
            )
        )
    return found


def findings_of(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    stored: StoredSeries,
    pane: Pane,
    *,
    together: Sequence[StoredSeries] = (),
) -> list[Finding]:
    """What is to be said of the assumed class prior of a collected series, once labels are mature.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : Monitor
    configuration : str
    stored : StoredSeries
    pane : Pane
    together : sequence of StoredSeries
        All series of the pane. A segment is compared with all rows of its model version.
    """
    prior = class_prior_from_json(stored.class_prior)
    if pane.state == "provisional" or prior is None or not is_given(prior):
        return []
    purity, now = monitor.label_purity, _share_of(stored)
    found = assumed_prior_findings(
        prior,
        now,
        _baseline_shares(ledger, monitor, configuration, stored, pane),
        label_purity=1.0 if isinstance(purity, str) else purity,
    )
    return found + [
        segment_finding(prior, now, _share_of(one))
        for one in together
        if stored.segment and (one.model_version, one.segment) == (stored.model_version, "")
    ]


def findings_at(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    window: Window,
    *,
    series: tuple[str, str],
    as_of: datetime,
) -> list[Finding]:
    """Findings of one model version and segment of a window, from what was collected by a moment.

    The evaluation may belong to a transaction that is not committed yet.
    """
    panes = [one for one in monitor.pane_schedule.panes(window) if one.as_of <= as_of]
    if not panes or not monitor.is_prior_assumed:
        return []
    if not series[1] and ledger.read_audits(monitor.name, configuration):
        return []  # an audited class prior is not the assumed one
    key = window_key(monitor.name, configuration, window.start, window.end)
    together = ledger.series(key, panes[-1].number)
    return [
        finding
        for stored in together
        if (stored.model_version, stored.segment) == series
        for finding in findings_of(
            ledger, monitor, configuration, stored, panes[-1], together=together
        )
        if finding.severity == "warning"
    ]


def _share_of(stored: StoredSeries) -> ConfirmedShare:
    labeled, rows = counts_of(stored)
    return ConfirmedShare(labeled=labeled, rows=rows)


def _baseline_shares(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    series: StoredSeries,
    pane: Pane,
) -> list[ConfirmedShare]:
    """Shares confirmed in the windows compared with, each at its pane of the same age.

    The windows are of the same model version if it has enough of them, else of all versions.
    """
    period = baseline_period(monitor)
    end = pane.window.start if period.end is None else min(period.end, pane.window.start)
    with ledger.database.reading() as connection:
        counts = labels_at_age(
            connection,
            monitor=monitor.name,
            configuration=configuration,
            segment=series.segment,
            number=pane.number,
            since=period.start,
            until=end,
            as_of=pane.as_of,
            most=period.windows,
        )
    own = [one for one in counts if one.model_version == series.model_version]
    chosen = own if len({one.window.start for one in own}) >= FEWEST_WINDOWS else counts
    return _by_window(chosen)


def _by_window(counts: Sequence[LabeledCount]) -> list[ConfirmedShare]:
    found: dict[datetime, ConfirmedShare] = {}
    for one in counts:
        before = found.get(one.window.start, ConfirmedShare(labeled=0, rows=0))
        found[one.window.start] = ConfirmedShare(
            labeled=before.labeled + one.labeled, rows=before.rows + one.rows
        )
    return list(found.values())


def _frequency(share: float, class_prior: ClassPriorEstimate) -> str:
    return percent_text(share / class_prior.value)
