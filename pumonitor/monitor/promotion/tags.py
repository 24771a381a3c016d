"""Tags of a model version that say on what evidence it was promoted."""

from __future__ import annotations

from typing import Final

from pumonitor.monitor.ledger.records.promotions import Promotion
from pumonitor.monitor.promotion.registry import Registry

PREFIX: Final = "pumonitor.promotion."
_NUMBER: Final = PREFIX + "number"
_UNDONE: Final = (PREFIX + "undone_at", PREFIX + "undone_by")


def tag_evidence(registry: Registry, promotion: Promotion) -> None:
    """Write a promotion's evidence to the version that is to be promoted."""
    evidence = promotion.evidence
    if evidence is None:
        return
    values = {
        "number": promotion.id,
        "metric": evidence.metric,
        "difference": evidence.difference,
        "low": evidence.low,
        "high": evidence.high,
        "labels": evidence.labels,
        "windows": evidence.windows,
        "evaluation": evidence.evaluation,
        "by": promotion.actor,
        "at": promotion.begun_at.isoformat(),
    }
    model, version = promotion.model, promotion.to_version
    _remove(registry, model, version, *_UNDONE)
    registry.tag(model, version, {PREFIX + name: str(one) for name, one in values.items()})


def take_back_tags(registry: Registry, promotion: Promotion) -> None:
    """Delete the tags of a promotion that did not happen; those of another one stay."""
    model, version = promotion.model, promotion.to_version
    found = registry.tags(model, version) or {}
    if promotion.evidence is not None and found.get(_NUMBER) == str(promotion.id):
        # The number last: if this is interrupted, it says whose the others are.
        rest = sorted(name for name in found if name.startswith(PREFIX) and name != _NUMBER)
        registry.untag(model, version, *rest, _NUMBER)


def note_undone(registry: Registry, undo: Promotion) -> None:
    """Write to the version that is deployed no more that its promotion was undone."""
    if undo.from_version is not None:
        values = (undo.begun_at.isoformat(), undo.actor)
        tags = dict(zip(_UNDONE, values, strict=True))
        registry.tag(undo.model, undo.from_version, tags)


def _remove(registry: Registry, model: str, version: str, *names: str) -> None:
    found = registry.tags(model, version) or {}
    registry.untag(model, version, *(name for name in names if name in found))
