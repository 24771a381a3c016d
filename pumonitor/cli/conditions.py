"""Print the condition of a monitor in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.views.condition import MonitorCondition


def print_condition(console: Console, view: MonitorCondition, *, indent: str = "") -> None:
    """Print a monitor with its condition, and what to do about it."""
    from pumonitor.monitor.views.condition import condition_text
    from pumonitor.text import moment_text

    style = "yellow" if view.needs_somebody else None
    text = condition_text(view, moment_text)
    console.print(f"{indent}{view.name}: {text}", style=style, markup=False, soft_wrap=True)
    if view.remedy:
        console.print(f"{indent}  {view.remedy}", markup=False, soft_wrap=True)
