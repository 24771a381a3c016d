"""Promote what the gate calls better: which model and alias, and which challenger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pumonitor.errors import InputError, no_such
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.promotions import Promotion
from pumonitor.monitor.promotion.gate import GateAnswer
from pumonitor.monitor.promotion.promoter import CHAMPION, Promoter

_LINK: Final = re.compile(r"models:/(?P<model>[^/@]+)(?:/[^/@]+|@(?P<alias>[^/@]+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The registered model of a monitor, and the alias of its deployed version.

    Attributes
    ----------
    model : str
    alias : str
        That of the monitor's link; ``champion`` if the link has none.
    """

    model: str
    alias: str


def deployed_by(monitor: Monitor) -> Deployed:
    """Which alias is moved when a challenger of a monitor is promoted.

    Raises
    ------
    InputError
        If the monitor has no model.
    """
    link = None if monitor.model is None else _LINK.fullmatch(monitor.model)
    if link is None:
        msg = (
            f"monitor {monitor.name} has no registered model, so there is no alias to move: give "
            "it a model such as models:/card-fraud@champion"
        )
        raise InputError(msg)
    return Deployed(model=link["model"], alias=link["alias"] or CHAMPION)


def chosen_challenger(monitor: Monitor, name: str | None) -> str:
    """Name of the challenger that is meant; it is a version of the monitor's registered model.

    Raises
    ------
    InputError
        If there is none of that name, none is given and there are several, or it cannot be
        promoted, as it is a column or another registered model.
    """
    model = deployed_by(monitor).model
    if monitor.challengers is None:
        msg = f"monitor {monitor.name} has no challengers: add the section challengers to it"
        raise InputError(msg)
    known = monitor.challengers.models
    if name is None and len(known) > 1:
        msg = f"monitor {monitor.name} has several challengers: give --challenger, one of "
        raise InputError(msg + ", ".join(known))
    name = next(iter(known)) if name is None else name
    if name not in known:
        raise InputError(no_such("challenger", name, known))
    link = _LINK.fullmatch(monitor.challengers.links.get(name, ""))
    if link is None:
        msg = (
            f"challenger {name} is a column of the predictions and not a version in the registry, "
            f"so there is nothing to promote: register it as a version of {model}"
        )
        raise InputError(msg)
    if link["model"] != model:
        msg = (
            f"challenger {name} is a version of the registered model {link['model']}, and an alias "
            f"of {model} can only point to versions of {model}: register it there"
        )
        raise InputError(msg)
    return name


def promote_if_better(
    promoter: Promoter, monitor: Monitor, answer: GateAnswer, *, actor: str
) -> Promotion | None:
    """Promote the challenger of an answer; None, and nothing is done, unless it is better.

    Raises
    ------
    ValueError
        If the gate says better without evidence, or of no version.
    PumonitorError
        As `Promoter.promote`.
    """
    if answer.verdict != "better":
        return None
    if answer.evidence is None or answer.challenger_version is None:
        msg = "an answer that says better must have evidence and the challenger's version"
        raise ValueError(msg)
    deployed = deployed_by(monitor)
    return promoter.promote(
        monitor.name,
        deployed.model,
        compared_with=answer.champion_version,
        version=answer.challenger_version,
        evidence=answer.evidence,
        actor=actor,
        alias=deployed.alias,
    )
