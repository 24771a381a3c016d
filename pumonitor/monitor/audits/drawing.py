"""Draw the cases of an audit from the windows of a monitor, where the rows are."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.drawn import audit_name
from pumonitor.audit.ordering import draw_key
from pumonitor.audit.requests import BinRequest, CaseRequest, DrawnRow
from pumonitor.audit_plan import AuditPlan, plan_audit_bins
from pumonitor.errors import InputError
from pumonitor.monitor.audits.audited_windows import WaitingWindow, WindowsToAudit
from pumonitor.monitor.config.sections.audits import Audits
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.audits import DrawnWindow, ReviewCase, StoredAudit
from pumonitor.ports import Pane, PredictionSource, Window

Step = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCases:
    """An audit with the lines of the file for its reviewers.

    Attributes
    ----------
    audit : StoredAudit
        As it is to be stored.
    plan : AuditPlan
    cases : tuple of ReviewCase
        New lines, in the order of the file.
    shown : mapping of int to tuple of str
        Number of a line to its `columns`.
    left_out : tuple of str
        Windows that were not drawn from, as in `WindowsToAudit`.
    waiting : tuple of WaitingWindow
        Others of the period, which are not mature yet.
    """

    audit: StoredAudit
    plan: AuditPlan
    cases: tuple[ReviewCase, ...]
    shown: Mapping[int, tuple[str, ...]]
    left_out: tuple[str, ...] = ()
    waiting: tuple[WaitingWindow, ...] = ()

    @property
    def inclusion(self) -> tuple[float, ...]:
        """pi: the probability with which an unlabeled row of each bin was drawn."""
        bins = self.plan.bins
        there = zip(self.plan.planned, np.maximum(bins.unlabeled, 1).tolist(), strict=True)
        return tuple(planned / rows for planned, rows in there)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A drawn row and the window it is of."""

    row: DrawnRow
    window: datetime


def plan_windows(
    monitor: Monitor,
    windows: WindowsToAudit,
    *,
    asked: Mapping[str, Any],
    progress: Step = lambda step, share: None,
) -> AuditPlan:
    """Plan an audit of some windows, from their stored tables.

    Parameters are those of `draw_windows`.
    """
    return _plan(monitor, windows.bins(monitor.threshold), windows, asked, progress)


def draw_windows(
    monitor: Monitor,
    source: PredictionSource,
    windows: WindowsToAudit,
    *,
    configuration: str,
    actor: str,
    asked: Mapping[str, Any],
    seed: str | None = None,
    progress: Step = lambda step, share: None,
) -> DrawnCases:
    """Plan an audit of some windows and draw its cases.

    Rows are counted by score bin in the source, as of the moment of each window's pane, and of
    each bin the rows of smallest key are drawn there: no other row leaves it.

    Parameters
    ----------
    monitor : Monitor
    source : PredictionSource
    windows : WindowsToAudit
    configuration : str
        Hash of the monitor's configuration.
    actor : str
    asked : mapping
        Of `plan_audit_bins`: cases or width, metrics and above, where they differ from the
        configuration.
    seed : str, optional
        A random one unless given.
    progress : callable, optional

    Raises
    ------
    InputError
        If rows cannot be used or there are too few.
    """
    audits = monitor.audits or Audits()
    bins = windows.bins(monitor.threshold)
    draw = _Draw(
        monitor=monitor,
        source=source,
        model_version=windows.model_version,
        edges=tuple(bins.edges.tolist()),
        seed=seed or secrets.token_hex(16),
        columns=audits.columns,
        progress=progress,
    )
    drawn_from = [
        replace(draw.counted(pane), design_effect=bins.design_effect) for pane in windows.panes
    ]
    exact = _with_counts(bins, drawn_from)
    plan = _plan(monitor, exact, windows, asked, progress)
    seeds = min(round(audits.seeds * plan.cases), int(exact.labeled.sum()))
    rows, positives = draw.drawn(drawn_from, exact, plan.planned, seeds)
    audit = StoredAudit(
        name=audit_name(draw.seed, [one.row.id for one in rows]),
        monitor=monitor.name,
        configuration=configuration,
        model_version=windows.model_version,
        windows=tuple(drawn_from),
        drawn_at=max(one.as_of for one in drawn_from),
        actor=actor,
        threshold=monitor.threshold,
        fair=audits.fair,
        seed=draw.seed,
        edges=draw.edges,
        planned=plan.planned,
    )
    twice = sorted(rows, key=lambda one: draw_key(f"{draw.seed} twice", one.row.id))
    lines = [("case", one) for one in rows] + [("seed", one) for one in positives]
    lines += [("again", one) for one in twice[: round(audits.twice * len(rows))]]
    drawn = _lined_up(audit, plan, lines, first=1)
    return replace(drawn, left_out=windows.left_out, waiting=windows.waiting)


def draw_more(
    monitor: Monitor,
    source: PredictionSource,
    audit: StoredAudit,
    before: Sequence[ReviewCase],
    windows: WindowsToAudit,
    *,
    more: int,
    actor: str,
    above: float | None = None,
    progress: Step = lambda step, share: None,
) -> DrawnCases:
    """Draw the next cases of an audit, by the same seed: those drawn before stay.

    Raises
    ------
    InputError
        If a row that was drawn is no longer there or confirmed.
    """
    audits = monitor.audits or Audits()
    exact = ScoreBins.counted(
        edges=audit.edges, threshold=audit.threshold, rows=audit.rows, labeled=audit.labeled
    ).with_order_of(windows.table, threshold=audit.threshold)
    plan = plan_audit_bins(
        exact,
        threshold=audit.threshold,
        class_prior=windows.class_prior,
        cases=sum(audit.planned) + more,
        metrics=audits.metrics,
        fair=audit.fair,
        above=audits.above if above is None else above,
        drawn=audit.planned,
        progress=progress,
    )
    draw = _Draw(
        monitor=monitor,
        source=source,
        model_version=audit.model_version,
        edges=audit.edges,
        seed=audit.seed,
        columns=audits.columns,
        progress=progress,
    )
    rows, _ = draw.drawn(audit.windows, exact, plan.planned, 0)
    known = {one.keyed for one in before if one.kind == "case"}
    missing = len(known - {one.row.key for one in rows})
    if missing:
        msg = (
            f"{missing} of the {len(known)} cases of audit {audit.name} are not among the rows any "
            "more, or were confirmed as of then: rows have changed since; draw another audit"
        )
        raise InputError(msg)
    new = [("case", one) for one in rows if one.row.key not in known]
    extended = replace(audit, planned=plan.planned, actor=actor)
    return _lined_up(extended, plan, new, first=len(before) + 1)


_SPARE: Final = (6.0, 20)
"""Standard deviations, and rows, by which more keys are asked for than are needed on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """Counts bins and draws rows of windows, in the source."""

    monitor: Monitor
    source: PredictionSource
    model_version: str
    edges: tuple[float, ...]
    seed: str
    columns: tuple[str, ...]
    progress: Step

    def counted(self, pane: Pane) -> DrawnWindow:
        """Rows and confirmed positives of a window as of its pane."""
        self.progress("Counting rows by score", None)
        found = self.source.bins(self._of(BinRequest, pane.window, pane.as_of))
        return DrawnWindow(
            start=pane.window.start,
            end=pane.window.end,
            as_of=pane.as_of,
            rows=found.rows,
            labeled=found.labeled,
        )

    def drawn(
        self, windows: Sequence[DrawnWindow], bins: ScoreBins, planned: Sequence[int], seeds: int
    ) -> tuple[list[_Row], list[_Row]]:
        """Cases and seeds of all windows, of smallest key."""
        self.progress("Drawing", None)
        spread = 1.0
        while True:
            shares = [
                _share(wanted, int(there), spread)
                for wanted, there in zip(planned, bins.unlabeled, strict=True)
            ]
            confirmed = _share(seeds, int(bins.labeled.sum()), spread)
            found = self._rows(windows, shares, confirmed)
            cases = [
                [one for one in found if not one.row.is_confirmed and one.row.bin == place]
                for place in range(len(planned))
            ]
            positives = [one for one in found if one.row.is_confirmed]
            is_enough = all(
                len(here) >= wanted or share >= 1
                for here, wanted, share in zip(cases, planned, shares, strict=True)
            )
            if is_enough and (len(positives) >= seeds or confirmed >= 1):
                break
            spread *= 4
        for here, wanted in zip(cases, planned, strict=True):
            if len(here) < wanted:
                msg = (
                    "rows were taken away while the cases were drawn, or an id stands in two "
                    "windows: draw again with fewer cases"
                )
                raise InputError(msg)
        chosen = [one for here, wanted in zip(cases, planned, strict=True) for one in here[:wanted]]
        return chosen, positives[:seeds]

    def _rows(
        self, windows: Sequence[DrawnWindow], shares: Sequence[float], confirmed: float
    ) -> list[_Row]:
        """Rows of all windows in the order of their keys; of an id in two windows the first."""
        found: dict[str, _Row] = {}
        for window in windows:
            where = Window(start=window.start, end=window.end, index=0)
            request = self._of(
                CaseRequest,
                where,
                window.as_of,
                seed=self.seed,
                shares=tuple(shares),
                confirmed_share=confirmed,
                columns=self.columns,
            )
            for row in self.source.draw(request):
                found.setdefault(row.key, _Row(row=row, window=window.start))
        return [found[key] for key in sorted(found)]

    def _of(self, kind: type[Any], window: Window, as_of: datetime, **more: Any) -> Any:
        return kind(
            window=window,
            as_of=as_of,
            model_version=self.model_version,
            threshold=self.monitor.threshold,
            edges=self.edges,
            **more,
        )


def _share(wanted: int, there: int, spread: float) -> float:
    """Which share of the keys surely holds the smallest ones that are wanted."""
    if wanted == 0 or there == 0:
        return 0.0
    deviations, rows = _SPARE
    return min(1.0, spread * (wanted + deviations * math.sqrt(wanted) + rows) / there)


def _with_counts(bins: ScoreBins, windows: Sequence[DrawnWindow]) -> ScoreBins:
    """The bins with the rows that the source counted."""
    return replace(
        bins,
        rows=np.sum([one.rows for one in windows], axis=0, dtype=np.int64),
        labeled=np.sum([one.labeled for one in windows], axis=0, dtype=np.int64),
    )


def _plan(
    monitor: Monitor,
    bins: ScoreBins,
    windows: WindowsToAudit,
    asked: Mapping[str, Any],
    progress: Step,
) -> AuditPlan:
    """As asked for, and as the configuration says where that leaves it open."""
    audits = monitor.audits or Audits()
    given: dict[str, Any] = {"above": audits.above}
    given |= {name: one for name, one in asked.items() if one is not None}
    if "width" not in given:
        # With a width cases are spread for its metrics.
        given = {"cases": audits.cases, "metrics": audits.metrics, **given}
    return plan_audit_bins(
        bins,
        threshold=monitor.threshold,
        class_prior=windows.class_prior,
        fair=audits.fair,
        progress=progress,
        **given,
    )


def _lined_up(
    audit: StoredAudit,
    plan: AuditPlan,
    lines: Sequence[tuple[Any, _Row]],
    *,
    first: int,
) -> DrawnCases:
    """Number the lines in random order, which tells neither bin nor kind."""

    def order(line: tuple[Any, _Row]) -> str:
        kind, one = line
        return draw_key(
            f"{audit.seed} order", f"{one.row.id} again" * (kind == "again") or one.row.id
        )

    found = DrawnCases(audit=audit, plan=plan, cases=(), shown={})
    inclusion, cases, shown = found.inclusion, [], {}
    for number, (kind, one) in enumerate(sorted(lines, key=order), start=first):
        place = one.row.bin
        cases.append(
            ReviewCase(
                number=number,
                keyed=one.row.key,
                id=one.row.id,
                bin=place,
                inclusion=None if kind == "seed" else inclusion[place],
                kind=kind,
                window_start=one.window,
                segments=one.row.segments,
            )
        )
        shown[number] = one.row.shown
    return replace(found, cases=tuple(cases), shown=shown)
