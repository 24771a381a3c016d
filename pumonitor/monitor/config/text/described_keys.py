"""Descriptions of configuration keys for the JSON Schema, taken from the models' docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

_SECTION = re.compile(r"^Attributes\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\S[^\n:]*?)(?: : [^\n]*)?\n((?:[ ]+[^\n]*\n?|\n)*)", re.MULTILINE)


def attributes_of(docstring: str | None) -> dict[str, str]:
    """Name to its text, in one line, in the section "Attributes" of a docstring.

    Examples
    --------
    >>> doc = '''A span.
    ...
    ...     Attributes
    ...     ----------
    ...     start, end : date
    ...         From ``start`` up to
    ...         but not including ``end``.
    ...     zone : str
    ...     '''
    >>> attributes_of(doc)["end"]
    'From `start` up to but not including `end`.'
    >>> attributes_of(doc)["zone"]
    ''
    """
    found = _SECTION.search(inspect.cleandoc(docstring or "") + "\n")
    if found is None:
        return {}
    texts: dict[str, str] = {}
    for names, text in _ENTRY.findall(found[1]):
        one_line = " ".join(text.split()).replace("``", "`")
        texts.update({name.strip(): one_line for name in names.split(",")})
    return texts


def with_descriptions(
    schema: dict[str, Any], docstring: str | None, keys: Mapping[str, str]
) -> dict[str, Any]:
    """Add descriptions of a model and of its keys to its JSON Schema.

    Parameters
    ----------
    schema : dict
        The schema from pydantic; changed and returned. Existing descriptions are kept.
    docstring : str or None
        Docstring of the model.
    keys : mapping of str to str
        Name of a field to its key in the file.
    """
    summary = inspect.cleandoc(docstring or "").partition("\n\n")[0]
    schema["description"] = " ".join(summary.split())
    texts = attributes_of(docstring)
    for field, key in keys.items():
        described = schema["properties"].get(key)
        if described is not None and texts.get(field):
            described.setdefault("description", texts[field])
    return schema
