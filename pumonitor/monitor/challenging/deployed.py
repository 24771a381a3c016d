"""Since when the deployed version is deployed: earlier windows say nothing of it."""

from __future__ import annotations

from datetime import datetime

from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import deployed_by
from pumonitor.monitor.promotion.registry import Registry

__all__ = ["deployed_since", "note_deployed"]


def note_deployed(configuration: Configuration, monitor: Monitor, ledger: Ledger) -> str | None:
    """Ask the registry which version is deployed, and keep it if that is another than before.

    So that windows before do not count where somebody has moved the alias without `pumonitor
    promote`.

    Returns
    -------
    str or None
        The version; None without the alias, and where no challenger is in the registry.

    Raises
    ------
    RegistryError
        If the registry cannot be used.
    """
    tracking, settings = configuration.tracking, monitor.challengers
    if tracking is None or monitor.model is None or settings is None or not settings.links:
        return None
    deployed = deployed_by(monitor)
    registry = Registry(tracking.registry_address, mask=configuration.mask)
    version = registry.version_at(deployed.model, deployed.alias)
    if version is not None:
        ledger.deployed_versions.note(monitor.name, f"models:/{deployed.model}/{version}")
    return version


def deployed_since(ledger: Ledger, monitor: Monitor) -> datetime | None:
    """When another version was last deployed, by a promotion, its undoing or somebody else.

    None if none ever was. Of one that somebody else deployed it is when a round first saw it. What
    a challenger was seen to do beside another version says nothing of this one.
    """
    moments = [
        one.ended_at
        for one in ledger.promotions.all(monitor.name)
        if one.state == "done" and one.ended_at is not None
    ]
    seen = ledger.deployed_versions.since(monitor.name)
    return max(moments if seen is None else [*moments, seen], default=None)
