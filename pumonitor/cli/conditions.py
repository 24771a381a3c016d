"""Print the condition of a monitor in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor.monitor.views.condition import MonitorCondition, condition_text
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console


def print_condition(console: Console, view: MonitorCondition, *, indent: str = "") -> None:
    """Print a monitor with its condition, and what to do about it."""
    style = "yellow" if view.needs_somebody else None
    said = condition_text(view, moment_text)
    console.print(f"{indent}{view.name}: {said}", style=style, markup=False, soft_wrap=True)
    if view.remedy:
        console.print(f"{indent}  {view.remedy}", markup=False, soft_wrap=True)
