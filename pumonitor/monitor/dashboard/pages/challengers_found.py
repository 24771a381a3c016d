"""What is known of a monitor's challengers, once for the page and for the API.

The gate judges as `pumonitor challenge` has it judge, on what the state database holds: no model is
asked to score, and no registry where a link leads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.challengers import ChallengerDifferences, NotedChallenger
from pumonitor.monitor.views.challengers import ChallengerView

if TYPE_CHECKING:
    from pumonitor.monitor.challenging.noted import NotJudged


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengersFound:
    """Challengers of a monitor.

    Attributes
    ----------
    judged : sequence of ChallengerView
    others : sequence of NotJudged
    noted : mapping of str to NotedChallenger
        What was found of them when somebody looked last.
    over_windows : mapping of str to sequence of ChallengerDifferences
        Since the deployed version is.
    """

    judged: Sequence[ChallengerView]
    others: Sequence[NotJudged]
    noted: Mapping[str, NotedChallenger]
    over_windows: Mapping[str, Sequence[ChallengerDifferences]]


def challengers_found(site: Site, name: str) -> ChallengersFound:
    """What the gate says now of a monitor's challengers.

    Not to be asked within a snapshot: it takes tenths of a second, and more with many labels. It is
    kept until something is written to the state database.

    Parameters
    ----------
    site : Site
    name : str
        Of the monitor.
    """
    # Counted before: what is written meanwhile has the next page compute it anew.
    key = ("challengers", name, site.ledger.writes())
    found: ChallengersFound = site.kept.get(key, lambda: _found(site, site.monitors[name]))
    return found


def _found(site: Site, monitor: Monitor) -> ChallengersFound:
    # Loads statistics, which other pages do without.
    from pumonitor.monitor.challenging.deployed import deployed_spans
    from pumonitor.monitor.challenging.judged import judged
    from pumonitor.monitor.challenging.noted import known_without_registry
    from pumonitor.monitor.challenging.seen import series_of

    ledger = site.ledger
    known, others, noted = known_without_registry(ledger, monitor)
    deployed = deployed_spans(ledger, monitor)
    return ChallengersFound(
        judged=[one.view() for one in judged(monitor, ledger, known).values()],
        others=list(others.values()),
        noted=noted,
        over_windows={
            name: tuple(
                window
                for window in ledger.challengers.differences(series_of(monitor, one))
                if deployed.cover(window.start, window.end)
            )
            for name, one in known.items()
        },
    )


def better_challengers(
    ledger: Ledger, monitors: Mapping[str, Monitor], visible: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Monitor to its challengers that the last round found surely better, by one statement."""
    challenged = [name for name in visible if monitors[name].challengers is not None]
    found = ledger.noted_challengers.better(challenged) if challenged else {}
    return {monitor: _of_this_gate(monitors[monitor], of) for monitor, of in found.items()}


def _of_this_gate(monitor: Monitor, found: Mapping[str, str]) -> tuple[str, ...]:
    """In the order of the configuration, those that were asked what it asks now."""
    from pumonitor.monitor.challenging.noted import gate_hash

    settings, asked = monitor.challengers, gate_hash(monitor)
    models = settings.models if settings is not None else {}
    return tuple(name for name in models if found.get(name) == asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterChallenger:
    """A challenger that is surely better, and what becomes of it.

    Attributes
    ----------
    name : str
    command : str
        That promotes it; "" where nothing can.
    otherwise : str
        What else is to be said.
    """

    name: str
    command: str
    otherwise: str


def said_to_be_better(monitor: Monitor, names: Sequence[str]) -> list[BetterChallenger]:
    """What a line about each of these challengers says."""
    return [_said(monitor, name) for name in names]


def _said(monitor: Monitor, name: str) -> BetterChallenger:
    from pumonitor.monitor.promotion.by_gate import chosen_challenger

    settings = monitor.challengers
    try:
        chosen_challenger(monitor, name)
    except InputError as error:
        return BetterChallenger(name=name, command="", otherwise=as_sentence(str(error)))
    many = settings is not None and len(settings.models) > 1
    command = f"pumonitor promote {monitor.name}" + (f" --challenger {name}" if many else "")
    is_automatic = settings is not None and settings.promote == "automatic"
    return BetterChallenger(
        name=name, command=command, otherwise="the next round does it" if is_automatic else ""
    )


def as_sentence(text: str) -> str:
    """A reason with a capital letter and a full stop.

    Examples
    --------
    >>> as_sentence("recall differs by +0.0312")
    'Recall differs by +0.0312.'
    """
    return text[:1].upper() + text[1:].removesuffix(".") + "."
