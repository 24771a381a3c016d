"""What a registry says of promotions."""

from __future__ import annotations

from typing import Any

TAGS = {
    "metric": "recall",
    "difference": "0.0312",
    "low": "0.012",
    "high": "0.05",
    "labels": "412",
    "windows": "12",
    "evaluation": "5f0c77aa",
}


def aliases(client: Any, model: str) -> dict[str, str]:
    found = client.get_registered_model(model).aliases
    return {name: str(version) for name, version in found.items()}


def promotion_tags(client: Any, model: str, version: str) -> dict[str, str]:
    """Tags about promotions, without what depends on the run."""
    found = client.get_model_version(model, version).tags
    prefix = "pumonitor.promotion."
    return {name.removeprefix(prefix): one for name, one in found.items() if prefix in name}
