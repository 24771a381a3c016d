"""Confirmed positives of so few entities that intervals rest on little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.results import Finding

_FEW: Final = 10


def few_entities(settings: Mapping[str, Any]) -> list[Finding]:
    """A warning where confirmed positives that share entities are of fewer than ten.

    How much rows of one entity are alike is learned from the entities at hand, and fewer than ten
    hardly tell it. Silent without entities, and where each row is one of its own.
    """
    entities, labeled = settings.get("labeled_entities"), settings["n_labeled"]
    if entities is None or entities == labeled or entities >= _FEW:
        return []
    return [
        Finding(
            name="few_entities",
            severity="warning",
            sentence=(
                f"The {labeled} confirmed positives are of {entities} entities only: how alike "
                "rows of one entity are is hardly known, and an entity of another kind would "
                "change every estimate. Evaluate a longer period."
            ),
        )
    ]
