"""The gate's answer about one challenger, for a promotion."""

from __future__ import annotations

import hashlib

from pumonitor.errors import InputError, PumonitorError, no_such
from pumonitor.gate import Judgement
from pumonitor.monitor.challenging.challengers import RegisteredChallenger
from pumonitor.monitor.challenging.deployed import note_deployed
from pumonitor.monitor.challenging.judged import JudgedChallenger, challengers_of, judged
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import Evidence
from pumonitor.monitor.promotion.gate import GateAnswer


def gate_answer(
    configuration: Configuration, monitor: Monitor, *, ledger: Ledger, challenger: str
) -> GateAnswer:
    """What the gate says of a challenger, on what is stored of all challengers by now.

    All of them are judged, as they share the gate's error. Nothing is scored: `pumonitor run` and
    `pumonitor challenge` do that.

    Raises
    ------
    InputError
        If there is no such challenger.
    PumonitorError
        If the registry cannot be reached.
    """
    known = challengers_of(configuration, monitor)
    if challenger not in known:
        raise InputError(no_such("challenger", challenger, known))
    chosen = known[challenger]
    if isinstance(chosen, PumonitorError):
        raise chosen
    # Read once: what is judged is compared with the version that is named.
    champion = note_deployed(configuration, monitor, ledger)
    found = judged(
        monitor,
        ledger,
        {name: one for name, one in known.items() if not isinstance(one, PumonitorError)},
    )[challenger]
    return GateAnswer(
        verdict=found.judgement.verdict,
        reason=found.judgement.reason,
        evidence=_evidence(found),
        champion_version=champion,
        challenger_version=chosen.version if isinstance(chosen, RegisteredChallenger) else None,
    )


def _evidence(found: JudgedChallenger) -> Evidence | None:
    """None before there is anything to compare."""
    judgement = found.judgement
    if not found.windows or not judgement.conditions or judgement.conditions[0].value is None:
        return None
    main = judgement.conditions[0]
    starts = [start for start, _ in found.windows]
    return Evidence(
        metric=main.metric,
        difference=float(main.value or 0.0),
        low=main.low,
        high=main.high,
        confidence_level=1 - 2 * judgement.error,
        labels=judgement.labels,
        windows=judgement.windows,
        first_window=min(starts),
        last_window=max(starts),
        verdict=judgement.verdict,
        evaluation=_digest(found, judgement),
    )


def _digest(found: JudgedChallenger, judgement: Judgement) -> str:
    """Hash of the differences that were judged and of what was said of them."""
    digest = hashlib.sha256(repr((judgement.conditions, judgement.labels)).encode())
    for start, seen in found.windows:
        digest.update(start.isoformat().encode())
        digest.update(seen.recall.tobytes() + seen.aul.tobytes() + seen.weights.tobytes())
    return digest.hexdigest()
