"""MkDocs calls this to add the pages that are made from the code."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from docs.from_code.pages import made_pages


def on_files(files: Files, config: Any) -> Files:
    """Add the made pages beside the written ones."""
    for place, text in made_pages().items():
        files.append(File.generated(config, place, content=text))
    return files
