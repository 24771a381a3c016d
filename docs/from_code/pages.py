"""All pages that are made from the code, by their place in docs/."""

from __future__ import annotations

from functools import cache

from docs.from_code import api, commands, configuration, metrics, python

__all__ = ["made_pages"]


@cache
def made_pages() -> dict[str, str]:
    """Place -> Markdown."""
    return {
        "reference/api.md": api.page(),
        "reference/configuration.md": configuration.page(),
        "reference/commands.md": commands.page(),
        "reference/metrics.md": metrics.page(),
        "reference/python.md": python.page(),
    }
