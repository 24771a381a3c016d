"""What a round of work came to, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from pumonitor.service.jobs import Round
    from pumonitor.store.alert_records import StoredAlert
    from pumonitor.store.records import Backlog

__all__ = ["as_json", "print_round"]


_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def as_json(done: Round, backlog: Backlog, firing: Sequence[StoredAlert] = ()) -> dict[str, Any]:
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
        "firing": [
            {
                "monitor": one.monitor,
                "rule": one.rule,
                "severity": one.severity,
                "model_version": one.model_version,
                "segment": one.segment,
                "since": None if one.firing_since is None else one.firing_since.isoformat(),
                "reason": one.reason,
            }
            for one in firing
        ],
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


def print_round(
    console: Console, done: Round, backlog: Backlog, firing: Sequence[StoredAlert] = ()
) -> None:
    """A few lines: what was done, what failed and why, what is left."""
    console.print(
        f"{_number(done.collected, 'window')} collected, {done.evaluated} evaluated"
        f"{_left(backlog)}."
    )
    for failure in done.failures:
        console.print("Failed: ", style="red", end="")
        console.print(failure, markup=False, soft_wrap=True)
    if done.failures:
        console.print("Failed windows are tried again later; pumonitor doctor says when.")
    for alert in firing:
        where = ", ".join(part for part in (alert.model_version, alert.segment) if part)
        style = _STYLES[alert.severity]
        console.print(f"Firing, {alert.severity}: ", style=style, end="")
        about = f"{alert.monitor}{f' ({where})' if where else ''}"
        console.print(f"{about}, {alert.rule}: {alert.reason}", markup=False, soft_wrap=True)
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
