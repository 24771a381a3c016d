"""What `pumonitor audit` prints: a plan, and what was found by score bin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pumonitor.text import (
    count_text,
    day_text,
    given_text,
    interval_text,
    moment_text,
    number_text,
    percent_text,
    percent_with_interval,
    probability_text,
    window_text,
    with_interval,
)

if TYPE_CHECKING:
    from pumonitor.audit_plan import AuditPlan
    from pumonitor.monitor.audits.shown import ShownAudit
    from pumonitor.monitor.views.audits import AuditStatusView, AuditsView
    from pumonitor.results import Evaluation


def print_plan(plan: AuditPlan, *, source: str, asked: int | None = None) -> None:
    """What the plan gives, and how many cases it takes from which scores."""
    from rich.table import Table

    from pumonitor.cli.terminal import Console
    from pumonitor.names import TITLES

    console = Console(highlight=False)
    prior = plan.class_prior
    share = percent_with_interval(prior.value, prior.low, prior.high)
    console.print(f"\n{source}", style="bold", markup=False)
    console.print(
        f"{plan.cases} cases; threshold {given_text(plan.threshold)}; share of positives today: "
        f"{share}\n",
        markup=False,
    )
    if asked is not None and asked > plan.cases:
        console.print(
            f"{asked:,} cases were asked for, and {plan.cases:,} rows are unconfirmed: all of them "
            "are drawn.\n",
            markup=False,
        )
    if plan.above is not None:
        upper = sum(one["cases"] for one in plan.by_bin() if one["above"])
        console.print(
            f"{upper} of the cases score at or above the threshold, asked for: "
            f"{percent_text(plan.above)}\n",
            markup=False,
        )
    widths = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    widths.add_column("Width of the 95% interval, about")
    widths.add_column("this audit", justify="right")
    if plan.free_widths is not None:
        widths.add_column("without --above", justify="right")
    widths.add_column("a simple audit", justify="right")
    for name in plan.metrics:
        kinds = (plan.free_widths, plan.simple_widths)
        widths.add_row(
            TITLES[name],
            f"{number_text(plan.widths[name])}, 1 in 10 above "
            f"{number_text(plan.high_widths[name])}",
            *(number_text(width[name]) for width in kinds if width is not None),
        )
    console.print(widths)
    console.print("")
    heads = ("rows", "confirmed", "cases")
    console.print(
        _by_score(
            heads,
            [
                (one, [f"{one[name]:,}" for name in ("rows", "labeled", "cases")])
                for one in plan.by_bin()
            ],
        )
    )
    console.print("")


def bins_found(bins: list[dict[str, Any]]) -> Any:
    """What the audit found, score bin by score bin."""
    heads = ("rows", "confirmed", "found", "positives", "share confirmed")
    lines = []
    for one in bins:
        positives, frequency = (
            with_interval(one[name], one[f"{name}_low"], one[f"{name}_high"], as_text=as_text)
            for name, as_text in (("positives", count_text), ("frequency", number_text))
        )
        found = f"{one['positive']} of {one['decided']}"
        cells = [f"{one['rows']:,}", f"{one['labeled']:,}", found, positives, frequency]
        lines.append((one, cells))
    return _by_score(heads, lines)


_SHOWN = ("class_prior", "precision", "recall", "f1", "auc")


def undecided_in_words(ev: Evaluation) -> list[str]:
    """How far estimates could be off if undecided cases are not like the decided ones."""
    if ev.audit is None or not ev.audit.undecided:
        return []
    from pumonitor.names import title

    count = int(ev.audit.posterior.counts.undecided.sum())
    ends = ", ".join(
        f"{title(name, ev.settings)} {interval_text(low, high)}"
        for name, (low, high) in ev.audit.undecided.items()
        if name in _SHOWN
    )
    cases = "case is" if count == 1 else "cases are"
    return [
        f"{count} {cases} undecided, and taken to be like the decided ones of the same scores. If "
        f"the odds of an undecided case are from a quarter to four times those, intervals are: "
        f"{ends}."
    ]


def _by_score(heads: tuple[str, ...], lines: list[tuple[dict[str, Any], list[str]]]) -> Any:
    """A line a score bin, with a gap at the threshold."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("scores from", *heads):
        table.add_column(head, justify="right")
    flagged = False
    for one, cells in lines:
        if one["above"] and not flagged and one["from"] is not None:
            flagged = True
            table.add_row("threshold")
        lowest = "lowest" if one["from"] is None else given_text(one["from"])
        table.add_row(lowest, *cells)
    return table


def print_audits(audits: AuditsView) -> None:
    """The audits of a monitor, one after the other."""
    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    console.print(f"\n{audits.monitor}", style="bold", markup=False)
    for status in audits.audits:
        for line in _status_lines(status):
            console.print(line, markup=False)
    if not audits.audits and not audits.between:
        console.print(
            "No audit yet: pumonitor audit draw draws one from its mature windows.", markup=False
        )
    for between in audits.between:
        console.print(between.sentence, markup=False)
    for line in _refused_lines(audits.refused):
        console.print(line, markup=False)
    if audits.next_due is not None:
        console.print(f"The next one is due on {day_text(audits.next_due)}.", markup=False)


def print_shown(status: AuditStatusView, shown: ShownAudit) -> None:
    """An audit: how far it is, what it says of its windows, by score bin, and what is doubtful."""
    from rich.table import Table

    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.rules.causes.by_audits import in_words
    from pumonitor.names import TITLES

    console = Console(highlight=False)
    for line in _status_lines(status):
        console.print(line, markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    without = shown.without()
    table.add_column("Of its windows together")
    if without is not None:
        table.add_column("without the audit", justify="right")
    table.add_column("by the audit", justify="right")
    if shown.undecided:
        table.add_column("undecided ones unlike the rest", justify="right")
    for name in _SHOWN:
        cells = [TITLES[name]]
        if without is not None:
            value, low, high = without[name].displayed
            cells.append(with_interval(value, low, high))
        one = shown.estimates[name]
        cells.append(with_interval(one.value, one.low, one.high))
        ends = shown.undecided.get(name)
        table.add_row(*cells, *([] if ends is None else [interval_text(*ends)]))
    console.print("")
    console.print(table)
    console.print("")
    console.print(bins_found(shown.by_bin()))
    if shown.compared is not None:
        console.print(f"\n{in_words(shown.compared)}", markup=False)
    fairness = shown.fairness
    console.print(
        f"\nThat labels are fair: {probability_text(fairness.p_value)}; as estimated, "
        f"{fairness.sentence}.",
        markup=False,
    )
    if fairness.power_sentence:
        console.print(f"{fairness.power_sentence.capitalize()}.", markup=False)


def _status_lines(status: AuditStatusView) -> list[str]:
    from pumonitor.monitor.audits.unused import not_used_said

    of_version = f", model version {status.model_version}" if status.model_version else ""
    read_at = "" if status.read_at is None else f", last on {moment_text(status.read_at)}"
    lines = [
        f"Audit {status.audit}, drawn on {day_text(status.drawn_at)} by {status.drawn_by} from "
        f"{status.windows} windows, "
        f"{window_text(status.window_start, status.window_end)}{of_version}",
        f"  {status.cases - status.unread} of {status.cases} cases read{read_at}: "
        f"{status.positive} positive, {status.decided - status.positive} negative, "
        f"{status.undecided} undecided ({status.conflicts} of them by verdicts that contradict "
        "each other)",
    ]
    if status.seeds:
        lines.append(
            f"  {status.seeds_found} of {status.seeds_decided} known positives that were decided "
            f"were found, {status.seeds} in the file"
        )
    if not status.is_current:
        lines.append(f"  {not_used_said(status.audit, {status.audit: status.changes})}")
    return lines + [f"  {line}" for line in _refused_lines(status.refused)]


def _refused_lines(refused: Mapping[str, int]) -> list[str]:
    from pumonitor.audit.given import WHY_REFUSED

    return [
        f"Not used: {count} {'verdict' if count == 1 else 'verdicts'} {WHY_REFUSED[reason]}"
        for reason, count in refused.items()
    ]
