"""Challengers in a round of work: after alerts, which do not wait for other models."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.round import OnProgress, Round
from pumonitor.ports import PredictionSource
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.monitor.challenging.judged import Scored

ScoreChallengers = Callable[..., "Scored"]
"""As `pumonitor.monitor.challenging.judged.score_challengers`, without the configuration."""


def score_in_round(
    monitor: Monitor,
    ledger: Ledger,
    done: Round,
    score: ScoreChallengers,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    on_progress: OnProgress,
    is_stopped: Callable[[], bool],
) -> None:
    """Let the challengers of a monitor score the windows that have matured.

    What fails is told of the round, and delays nothing else.
    """
    if monitor.challengers is None:
        return
    try:
        scored = score(
            monitor,
            ledger,
            open_source=open_source,
            on_window=lambda challenger, start: on_progress(
                f"Scoring {monitor.name} {moment_text(start)} by {challenger}", 0, 0
            ),
            is_stopped=is_stopped,
        )
    except StateError:
        raise
    except Exception as error:  # noqa: BLE001 (other monitors go on)
        done.failed(f"{monitor.name}, challengers", error)
        return
    for what, why in scored.failures:
        done.failed(f"{monitor.name}, {what}", why)
