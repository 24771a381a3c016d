"""Promotion by a round, where the configuration asks for it."""

from __future__ import annotations

from pumonitor.errors import PumonitorError
from pumonitor.monitor.challenging.challengers import AlreadyDeployedError, NoVersionYetError
from pumonitor.monitor.challenging.gate_answer import gate_answer
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import chosen_challenger, promote_if_better
from pumonitor.monitor.promotion.promoter import Promoter

_ACTOR = "pumonitor"


def promote_automatically(
    configuration: Configuration, monitor: Monitor, ledger: Ledger, promoter: Promoter
) -> tuple[tuple[str, Exception], ...]:
    """Promote the first challenger that is surely better; returns what failed.

    One promotion is enough: after it there is another deployed version to compare with.
    """
    settings = monitor.challengers
    if settings is None or settings.promote != "automatic":
        return ()
    failures = []
    for name in settings.links:
        try:
            chosen = chosen_challenger(monitor, name)
            answer = gate_answer(configuration, monitor, ledger=ledger, challenger=chosen)
            if promote_if_better(promoter, monitor, answer, actor=_ACTOR) is not None:
                break
        except (AlreadyDeployedError, NoVersionYetError):
            continue
        except PumonitorError as error:
            failures.append((f"promotion of {name}", error))
    return tuple(failures)
