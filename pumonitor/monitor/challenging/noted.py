"""What is kept of challengers for those who ask no registry: pages, and the overview of monitors.

A link such as ``models:/card-fraud@challenger`` leads to a version that the registry alone knows.
Whoever looks for challengers (a round, `pumonitor challenge`) notes where it led, and what the gate
said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pumonitor.errors import PumonitorError
from pumonitor.monitor.challenging.between import audits_between
from pumonitor.monitor.challenging.challengers import (
    AlreadyDeployedError,
    ColumnChallenger,
    NamedChallenger,
)
from pumonitor.monitor.challenging.deployed import deployed_spans
from pumonitor.monitor.challenging.judged import judged
from pumonitor.monitor.challenging.seen import series_of
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.challengers import NotedChallenger
from pumonitor.monitor.ledger.records.promotions import Promotion


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChallenger:
    """A challenger of the registry, as it was found last; it can be judged, and scores nothing.

    Attributes
    ----------
    name, scored_by : str
    trained_until : datetime or None
    """

    name: str
    scored_by: str
    trained_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    """A challenger of the configuration of which nothing can be said.

    Attributes
    ----------
    name, link : str
        As the configuration has it.
    is_deployed : bool
        Whether that is because it is deployed by now.
    reason : str
    """

    name: str
    link: str
    is_deployed: bool
    reason: str


def note_found(
    ledger: Ledger, monitor: Monitor, known: Mapping[str, NamedChallenger | PumonitorError]
) -> None:
    """Keep where the links of the configuration led, or why they led nowhere.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
    known : mapping of str to NamedChallenger or PumonitorError
        As `challengers_of` finds those of the configuration.
    """
    if monitor.challengers is None:
        return
    links = monitor.challengers.models
    ledger.noted_challengers.note(
        monitor.name, [_noted(name, links[name], one) for name, one in known.items()]
    )


def _noted(name: str, link: str, found: NamedChallenger | PumonitorError) -> NotedChallenger:
    if isinstance(found, PumonitorError):
        return NotedChallenger(
            name=name,
            link=link,
            scored_by=None,
            trained_until=None,
            is_deployed=isinstance(found, AlreadyDeployedError),
            problem=str(found),
        )
    return NotedChallenger(
        name=name, link=link, scored_by=found.scored_by, trained_until=found.trained_until
    )


def known_without_registry(
    ledger: Ledger, monitor: Monitor
) -> tuple[dict[str, NamedChallenger], dict[str, NotJudged], dict[str, NotedChallenger]]:
    """Challengers that can be judged, those that cannot, and what was noted of either.

    Columns need no note. What was noted of another link under the same name does not count, and of
    which version is deployed the last promotion knows better than a note from before it.
    """
    settings = monitor.challengers
    if settings is None:
        return {}, {}, {}
    noted = {
        one.name: one
        for one in ledger.noted_challengers.all(monitor.name)
        if settings.models.get(one.name) == one.link
    }
    last = next((one for one in ledger.promotions.all(monitor.name) if one.state == "done"), None)
    known: dict[str, NamedChallenger] = {}
    others: dict[str, NotJudged] = {}
    for name, link in settings.models.items():
        one = noted.get(name)
        if name in settings.columns:
            known[name] = ColumnChallenger(name=name, column=link)
        elif one is not None and one.scored_by is not None and not _is_deployed(one, last):
            known[name] = KnownChallenger(
                name=name, scored_by=one.scored_by, trained_until=one.trained_until
            )
        else:
            others[name] = NotJudged(
                name=name,
                link=link,
                is_deployed=one is not None and _is_deployed(one, last),
                reason=_why_not(name, one),
            )
    return known, others, noted


def _is_deployed(one: NotedChallenger, last: Promotion | None) -> bool:
    """Whether it is the deployed version, by whichever is newer: the last promotion or the note."""
    ended = None if last is None else last.ended_at
    if last is None or ended is None or one.noted_at is None or ended <= one.noted_at:
        return one.is_deployed
    return one.scored_by == f"models:/{last.model}/{last.to_version}"


def _why_not(name: str, one: NotedChallenger | None) -> str:
    if one is not None and one.problem is not None:
        return one.problem
    if one is not None and one.scored_by is not None:
        return f"challenger {name} is {one.scored_by}, which is deployed by now: train another"
    return "which version that is only the registry knows, and no round has asked it yet"


def judge_and_note(ledger: Ledger, monitor: Monitor) -> None:
    """Judge the challengers that are noted, if anything has changed since, and keep the verdicts.

    What the overview says of them then needs no statistics, and stays while the registry is away.
    """
    known, _, noted = known_without_registry(ledger, monitor)
    gate, evidence = gate_hash(monitor), _evidence_hash(ledger, monitor, known)
    before = {name: rest for name, *rest in ledger.noted_challengers.judged_on(monitor.name)}
    if any(before.get(name) != [gate, evidence] for name in noted):
        ledger.noted_challengers.note_verdicts(
            monitor.name,
            {name: one.judgement.verdict for name, one in judged(monitor, ledger, known).items()},
            gate=gate,
            evidence=evidence,
        )


def gate_hash(monitor: Monitor) -> str:
    """Hash of all in the configuration that a verdict depends on."""
    settings = monitor.challengers
    asked = None if settings is None else settings.model_dump(mode="json", exclude={"promote"})
    return _hash([configuration_hash(monitor), asked])


def _evidence_hash(
    ledger: Ledger, monitor: Monitor, challengers: Mapping[str, NamedChallenger]
) -> str:
    """Hash of what the gate is asked on: windows, reviewed cases, and the deployed version."""
    deployed = deployed_spans(ledger, monitor)
    series = {name: series_of(monitor, one) for name, one in challengers.items()}
    return _hash(
        [
            [[moment and moment.isoformat() for moment in span] for span in deployed.spans],
            sorted(
                [
                    name,
                    one.digest,
                    len(ledger.challengers.scored(one)),
                    sum(audit.reviewed for audit in audits_between(ledger, one)),
                ]
                for name, one in series.items()
            ),
        ]
    )


def _hash(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
