"""The audits of a monitor, and how each of its windows is read with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import numpy as np

from pumonitor.audit.bins import ScoreBins, pooled
from pumonitor.audit.carried import CarriedAudits, PastAudit
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.reading import Reviewers
from pumonitor.audit.segments import SegmentPart, audits_of_segment, segment_counts
from pumonitor.audit.window_reading import WindowReading
from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit, SegmentVerdicts
from pumonitor.monitor.ledger.records.audits import WindowCounts as AuditedWindow
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.windows.class_prior.known_windows import arrived_of
from pumonitor.monitor.windows.evaluation.audited_windows import NO_AUDIT, WindowAudits, not_used
from pumonitor.monitor.windows.evaluation.class_priors import is_given
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.ports import Pane
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

_KEPT: Final = 20
_SEGMENTS_KEPT: Final = 200
_Segment = tuple[CarriedAudits, Sequence[ReadAudit], str]
"""Audits as read for a segment, those that have enough of its cases, and why others have not."""

_ONE_EACH: Final = "rows must count one each, and confirmed positives all be positive"


class MonitorAudits:
    """Audits as far as verdicts have been read, from the ledger.

    Parameters
    ----------
    ledger : LedgerReader
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._read: dict[tuple[str, str], tuple[object, list[ReadAudit]]] = {}
        self._carried: OrderedDict[tuple[str, ...], CarriedAudits] = OrderedDict()
        self._of_segments: OrderedDict[tuple[str, ...], _Segment] = OrderedDict()

    def of(self, monitor: str, configuration: str) -> list[ReadAudit]:
        """Audits with a verdict that can be used, in the order of their windows."""
        state = self._ledger.state_of_audits(monitor, configuration)
        known, found = self._read.get((monitor, configuration), (None, []))
        if known != state:
            found = self._ledger.read_audits(monitor, configuration)
            self._read[monitor, configuration] = state, found
        return found

    def digests(self, monitor: str, configuration: str) -> tuple[str, ...]:
        """Of all of them: while they stay, so does what is read with them."""
        return tuple(one.digest for one in self.of(monitor, configuration))

    def used_by(self, monitor: Monitor, configuration: str, *, segment: str) -> list[PastAudit]:
        """Those that windows of the whole, or of a segment, are read with."""
        if segment or monitor.label_purity != 1.0:
            return []
        return [past_audit(one) for one in self.of(monitor.name, configuration)]

    def at(
        self,
        monitor: Monitor,
        audits: Sequence[ReadAudit],
        stored: StoredSeries,
        pane: Pane,
        *,
        class_prior: ClassPriorEstimate | None,
        share: Callable[[], ShareKnown],
        mature: Callable[[], StoredSeries | None],
    ) -> WindowAudits:
        """How a series of a pane is read; a segment by the cases that fall into it.

        Parameters
        ----------
        monitor : Monitor
        audits : sequence of ReadAudit
            The monitor's (`of`).
        stored : StoredSeries
        pane : Pane
        class_prior : ClassPriorEstimate or None
            Of the series, without audits.
        share : callable
            Share of the labels of a provisional pane that have arrived.
        mature : callable
            The series in the window's mature pane, of a final one.
        """
        table = stored.table() if audits else None
        if table is None:
            return NO_AUDIT
        if monitor.label_purity != 1.0 or table.weights is not None or table.has_propensities:
            return WindowAudits(findings=(not_used(_ONE_EACH),))
        try:
            carried, used = (
                self._of_segment(audits, stored.segment)
                if stored.segment
                else (self._through(audits), audits)
            )
            found = _read_with(
                carried,
                used,
                stored,
                table,
                pane,
                monitor.threshold,
                class_prior=class_prior,
                share=share,
                mature=mature,
            )
        except InputError as error:
            return WindowAudits(findings=(not_used(str(error)),))
        # Rules with evidence: audited are about all rows.
        return replace(found, share_read=None) if stored.segment else found

    def _of_segment(
        self, audits: Sequence[ReadAudit], segment: str
    ) -> tuple[CarriedAudits, Sequence[ReadAudit]]:
        """Audits with enough cases of a segment, read for it.

        Raises
        ------
        InputError
            If there is none; it says why of the last one.
        """
        key = (segment, *(one.digest for one in audits))
        if key not in self._of_segments:
            self._of_segments[key] = self._parts(audits, segment)
            while len(self._of_segments) > _SEGMENTS_KEPT:
                self._of_segments.popitem(last=False)
        carried, used, why = self._of_segments[key]
        if not used:
            raise InputError(why)
        return carried, used

    def _parts(self, audits: Sequence[ReadAudit], segment: str) -> _Segment:
        parts, used, why = [], [], ""
        for one in audits:
            try:
                parts.append(self._part(one, segment))
                used.append(one)
            except InputError as error:
                why = str(error)
        return audits_of_segment(parts), used, why

    def _part(self, audit: ReadAudit, segment: str) -> SegmentPart:
        if audit.by_segment is None:
            msg = f"audit {audit.name} was drawn without the segments of its cases"
            raise InputError(msg)
        none = (0,) * len(audit.planned)
        found = audit.by_segment.get(
            segment, SegmentVerdicts(decided=none, positive=none, undecided=none)
        )
        return segment_counts(
            past_audit(audit),
            audited_table(self._ledger, audit, segment=segment),
            threshold=audit.threshold,
            **asdict(found),
        )

    def _through(self, audits: Sequence[ReadAudit]) -> CarriedAudits:
        """Each audit read with what those before it left; what was read before is kept."""
        digests = tuple(one.digest for one in audits)
        for known in range(len(digests), -1, -1):
            if known == 0 or digests[:known] in self._carried:
                break
        found = self._carried.get(digests[:known])
        for place in range(known, len(digests)):
            found = CarriedAudits.through([past_audit(audits[place])], after=found)
            self._carried[digests[: place + 1]] = found
        while len(self._carried) > max(_KEPT, len(digests)):
            self._carried.popitem(last=False)
        return self._carried[digests]


def past_audit(audit: ReadAudit) -> PastAudit:
    """An audit with the counts of all of its windows together."""
    windows = list(audit.by_window.values())
    return PastAudit(
        name=audit.name,
        model_version=audit.model_version,
        start=audit.window_start,
        end=audit.window_end,
        fair=audit.fair,
        counts=_counts(audit, windows),
        reviewers=_reviewers(audit),
    )


def audited_table(ledger: LedgerReader, audit: ReadAudit, *, segment: str = "") -> ScoreTable:
    """The rows of the windows of an audit together, as they were known when it was drawn.

    Raises
    ------
    InputError
        If none of them is in the state database, or rows carry weights.
    """
    tables: list[ScoreTable | None] = []
    for record in ledger.windows(
        audit.monitor,
        since=audit.window_start,
        until=audit.window_end,
        configuration=audit.configuration,
    ):
        panes = [
            one
            for one in record.panes
            if one.collected_at and one.state != "provisional" and one.as_of <= audit.as_of
        ]
        if record.window.start in audit.by_window and panes:
            tables += [
                series.table()
                for series in ledger.series(record.window_key, panes[-1].number)
                if (series.model_version, series.segment) == (audit.model_version, segment)
            ]
    there = [one for one in tables if one is not None]
    if not there:
        which = f"the segment {segment} in any window" if segment else "the windows"
        msg = f"the state database has no scores of {which} of audit {audit.name}"
        raise InputError(msg)
    return pooled(there, threshold=audit.threshold)


def _counts(audit: ReadAudit, windows: Sequence[AuditedWindow]) -> AuditCounts:
    def summed(name: str) -> Any:
        return np.sum([getattr(one, name) for one in windows], axis=0, dtype=np.int64)

    bins = ScoreBins.counted(
        edges=audit.edges,
        threshold=audit.threshold,
        rows=summed("rows"),
        labeled=summed("labeled"),
    )
    return AuditCounts.of(
        replace(bins, design_effect=audit.design_effect),
        **{name: summed(name) for name in ("decided", "positive", "undecided")},
    )


def _reviewers(audit: ReadAudit) -> Reviewers | None:
    """Seeds are known positives: they tell how many are missed, and of no other mistake."""
    if audit.seeds_known == 0:
        return None
    return Reviewers.of_positives(audit.seeds_found, audit.seeds_known)


def _read_with(
    carried: CarriedAudits,
    audits: Sequence[ReadAudit],
    stored: StoredSeries,
    table: ScoreTable,
    pane: Pane,
    threshold: float,
    *,
    class_prior: ClassPriorEstimate | None,
    share: Callable[[], ShareKnown],
    mature: Callable[[], StoredSeries | None],
) -> WindowAudits:
    window, version = pane.window, stored.model_version
    own = carried.of_window(version, window.start, window.end)
    if own is not None and pane.state != "provisional":
        audit = carried.audits[own]
        bins = audit.counts.bins.with_order_of(table, threshold=threshold)
        counts = AuditCounts.of(
            bins,
            decided=audit.counts.decided,
            positive=audit.counts.positive,
            undecided=audit.counts.undecided,
        )
        reading = WindowReading(
            name=audit.name,
            method="audit",
            counts=counts,
            believed=carried.before[own],
            shared=carried.shared(own),
            reviewers=audit.reviewers,
            of_window=True,
        )
        return WindowAudits(
            reading=reading, used=_used(audits[: own + 1]), share_read=_share_read(audits[own])
        )
    found = carried.at(version, window.start, window.end)
    place = next(at for at, one in enumerate(carried.audits) if one is found.audit)
    # Labels that came after maturity are not among those that the audit knew of.
    earlier = mature() if pane.state == "final" else None
    read = table if earlier is None else earlier.table() or table
    counts, believed, shared = found.in_window(read, threshold=threshold)
    if read is not table:
        bins = counts.bins.with_order_of(table, threshold=threshold)
        counts = AuditCounts.of(bins, decided=0, positive=0)
    if pane.state == "provisional":
        known = share()
        if known.undefined_reason is not None or not known.value > 0:
            return NO_AUDIT
        arrived, variance = arrived_of(known, counts_of(stored)[0])
        believed = believed.so_far(arrived, log_variance=variance)
    if class_prior is not None and _is_by_scores(class_prior):
        believed = believed.with_class_prior(class_prior, counts)
    of = audits[place]
    is_of_window = window.start in of.by_window and of.model_version == version
    reading = WindowReading(
        name=found.audit.name,
        method="audit carried",
        counts=counts,
        believed=believed,
        shared=believed.still_shared(shared, counts),
        of_window=is_of_window,
    )
    seen = _share_read(of) if is_of_window and pane.state != "provisional" else None
    return WindowAudits(reading=reading, used=_used(audits[: place + 1]), share_read=seen)


def _share_read(audit: ReadAudit) -> float:
    return 1 - audit.unread / audit.cases


def _used(audits: Sequence[ReadAudit]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {
            "audit": one.name,
            "digest": one.digest,
            "decided": sum(sum(part.decided) for part in one.by_window.values()),
        }
        for one in audits
    )


def _is_by_scores(class_prior: ClassPriorEstimate) -> bool:
    """Whether scores tell it, and not a person, whose audit would count twice."""
    level = class_prior.diagnostics.get("over_time", {}).get("level", {})
    return not is_given(class_prior) and level.get("source") != "given"
