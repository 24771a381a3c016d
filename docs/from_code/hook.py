"""MkDocs calls this to add the pages that are made from the code."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from docs.from_code import decisions
from docs.from_code.pages import made_pages


def on_config(config: Any) -> Any:
    """Name the pages of the decisions, which are as many as ARCHITECTURE.md has."""
    (reference,) = (one["Reference"] for one in config.nav if "Reference" in one)
    (section,) = (one["Decisions"] for one in reference if "Decisions" in one)
    section += [f"decisions/{one.slug}.md" for one in decisions.read()]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the made pages beside the written ones."""
    for place, text in made_pages().items():
        files.append(File.generated(config, place, content=text))
    return files
