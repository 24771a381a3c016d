"""All pages that are made from the code, by their place in docs/."""

from __future__ import annotations

from docs.from_code import commands, configuration, metrics, python

__all__ = ["made_pages"]


def made_pages() -> dict[str, str]:
    """Place -> Markdown."""
    return {
        "reference/configuration.md": configuration.page(),
        "reference/commands.md": commands.page(),
        "reference/metrics.md": metrics.page(),
        "reference/python.md": python.page(),
    }
