"""When the deployed version was deployed: windows of another one say nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import deployed_by
from pumonitor.monitor.promotion.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedSpans:
    """Times in which the version was deployed that is deployed now.

    Attributes
    ----------
    spans : tuple of (datetime or None, datetime or None)
        From and until; None where it is not known since when, and of the last, which goes on.
    """

    spans: tuple[tuple[datetime | None, datetime | None], ...]

    @property
    def since(self) -> datetime | None:
        """When another version was last replaced by this one; None if none is known."""
        return self.spans[-1][0]

    def cover(self, start: datetime, end: datetime) -> bool:
        """Whether this version alone scored a window, from its start to its end."""
        return any(
            (begun is None or start >= begun) and (ended is None or end <= ended)
            for begun, ended in self.spans
        )


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


def deployed_spans(ledger: Ledger, monitor: Monitor) -> DeployedSpans:
    """When the deployed version was deployed, by promotions, their undoing or somebody else.

    Of one that somebody else deployed it is when a round first saw it. What a challenger was seen
    to do beside another version says nothing of this one; what it did beside this one counts,
    whatever was deployed in between.
    """
    changes = list(ledger.deployed_versions.seen(monitor.name))
    promotions = [
        promotion
        for promotion in reversed(ledger.promotions.all(monitor.name))
        if promotion.state == "done" and promotion.ended_at is not None
    ]
    if promotions and not changes and promotions[0].from_version is not None:
        changes = [(None, f"models:/{promotions[0].model}/{promotions[0].from_version}")]
    changes += [
        (promotion.ended_at, f"models:/{promotion.model}/{promotion.to_version}")
        for promotion in promotions
    ]
    changes.sort(key=lambda change: change[0] or datetime.min.replace(tzinfo=UTC))
    if not changes:
        return DeployedSpans(spans=((None, None),))
    ends = [*(moment for moment, _ in changes[1:]), None]
    deployed = changes[-1][1]
    return DeployedSpans(
        spans=tuple(
            (begun, ended)
            for (begun, version), ended in zip(changes, ends, strict=True)
            if version == deployed
        )
    )
