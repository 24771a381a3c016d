"""Promotion by a round, where the configuration asks for it."""

from __future__ import annotations

from pumonitor.errors import PumonitorError
from pumonitor.gate import ENOUGH_WINDOWS
from pumonitor.monitor.challenging.challengers import AlreadyDeployedError
from pumonitor.monitor.challenging.gate_answer import gate_answer
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import chosen_challenger, promote_if_better
from pumonitor.monitor.promotion.gate import GateAnswer
from pumonitor.monitor.promotion.promoter import Promoter

__all__ = ["promote_automatically"]

_ACTOR = "pumonitor"


def promote_automatically(
    configuration: Configuration, monitor: Monitor, ledger: Ledger, promoter: Promoter
) -> tuple[tuple[str, Exception], ...]:
    """Promote the first challenger that is surely better; returns what failed.

    One promotion is enough: after it there is another deployed version to compare with. Before five
    windows have labels nothing is promoted: if windows differ by more than their labels explain,
    that cannot be seen yet, and nobody is there to doubt it. An audit is about its own rows.
    """
    settings = monitor.challengers
    if settings is None or settings.promote != "automatic":
        return ()
    failures = []
    for name in settings.links:
        try:
            chosen = chosen_challenger(monitor, name)
            answer = gate_answer(configuration, monitor, ledger=ledger, challenger=chosen)
            if answer.verdict == "better" and not _is_settled(answer):
                continue
            if promote_if_better(promoter, monitor, answer, actor=_ACTOR) is not None:
                break
        except AlreadyDeployedError:
            continue
        except PumonitorError as error:
            failures.append((f"promotion of {name}", error))
    return tuple(failures)


def _is_settled(answer: GateAnswer) -> bool:
    evidence = answer.evidence
    return evidence is None or evidence.is_of_audit or evidence.windows >= ENOUGH_WINDOWS
