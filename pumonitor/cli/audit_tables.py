"""What `pumonitor audit` prints: a plan, and what was found by score bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pumonitor.audit_plan import AuditPlan

__all__ = ["bins_found", "print_plan"]


def print_plan(plan: AuditPlan, *, source: str) -> None:
    """What the plan gives, and how many cases it takes from which scores."""
    from rich.table import Table

    from pumonitor.cli.terminal import Console
    from pumonitor.names import TITLES
    from pumonitor.report.numbers import percent_with_interval

    console = Console(highlight=False)
    prior = plan.class_prior
    share = percent_with_interval(prior.value, prior.low, prior.high)
    console.print(f"\n{source}", style="bold", markup=False)
    console.print(
        f"{plan.cases} cases; threshold {plan.threshold:g}; share of positives today: {share}\n",
        markup=False,
    )
    widths = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    widths.add_column("Width of the 95% interval, about")
    widths.add_column("this audit", justify="right")
    widths.add_column("a simple audit", justify="right")
    for name in plan.metrics:
        simple = plan.simple_widths[name]
        widths.add_row(TITLES[name], f"{plan.widths[name]:.3f}", f"{simple:.3f}")
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
            f"{one[name]:{how}} [{one[f'{name}_low']:{how}}, {one[f'{name}_high']:{how}}]"
            for name, how in (("positives", ",.0f"), ("frequency", ".2f"))
        )
        found = f"{one['positive']} of {one['decided']}"
        cells = [f"{one['rows']:,}", f"{one['labeled']:,}", found, positives, frequency]
        lines.append((one, cells))
    return _by_score(heads, lines)


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
        lowest = "lowest" if one["from"] is None else f"{one['from']:.4g}"
        table.add_row(lowest, *cells)
    return table
