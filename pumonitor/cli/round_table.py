"""What a round of work came to, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from pumonitor.service.jobs import Round
    from pumonitor.store.records import Backlog

__all__ = ["as_json", "print_round"]


def as_json(done: Round, backlog: Backlog) -> dict[str, Any]:
    """Plain JSON types."""
    return {
        "planned": done.planned,
        "collected": done.collected,
        "evaluated": done.evaluated,
        "failures": done.failures,
        "left": {
            "to_collect": backlog.to_collect,
            "to_evaluate": backlog.to_evaluate,
            "failing": backlog.failing,
        },
        "deliveries": {
            name: {
                "delivered": one.delivered,
                "failed": one.failed,
                "set_aside": one.set_aside,
                "stopped": one.stopped,
                "reason": one.reason,
            }
            for name, one in done.deliveries.items()
        },
    }


def print_round(console: Console, done: Round, backlog: Backlog) -> None:
    """A few lines: what was done, what failed and why, what is left."""
    console.print(
        f"{_number(done.collected, 'window')} collected, {done.evaluated} evaluated"
        f"{_left(backlog)}."
    )
    for failure in done.failures:
        console.print(f"[red]Failed:[/] {failure}", markup=True, soft_wrap=True)
    if done.failures:
        console.print("Failed windows are tried again later; pumonitor doctor says when.")
    for name, one in done.deliveries.items():
        line = f"{name}: {_number(one.delivered, 'message')} delivered"
        if one.failed:
            line += f", {one.failed} failed ({one.reason})"
        if one.set_aside:
            line += f", {one.set_aside} set aside ({one.reason})"
        if one.stopped == "out of time":
            line += "; the next run sends the others"
        console.print(line, soft_wrap=True)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _left(backlog: Backlog) -> str:
    left = backlog.to_collect + backlog.to_evaluate
    return f"; {left} left to others or to the next run" if left else "; nothing is left"
