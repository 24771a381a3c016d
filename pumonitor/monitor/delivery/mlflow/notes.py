"""The note of a run or experiment, of which one part is pumonitor's and the rest is people's."""

from __future__ import annotations

import hashlib
import re
from typing import Final

NOTE_TAG: Final = "mlflow.note.content"
OWN_TAG: Final = "pumonitor.note"
"""Length and digest of the description that pumonitor wrote last, by which it is found again."""

_PAGE = re.compile(r"^\[Page in pumonitor\]\([^()\n]*\)$\n?", re.MULTILINE)


def own_mark(description: str) -> str:
    """What `OWN_TAG` holds of a description.

    Examples
    --------
    >>> own_mark("What a step is.")
    '15 b1a9678714bc5c94'
    """
    return f"{len(description)} {hashlib.sha256(description.encode()).hexdigest()[:16]}"


def described(note: str, description: str, *, own: str | None) -> str:
    r"""The note with a description in place of the one that pumonitor wrote last.

    What people wrote before and after stays. A description that people changed is theirs, and
    stays as it is.

    Parameters
    ----------
    note : str
        As it is now.
    description : str
        As it should be.
    own : str or None
        Value of `OWN_TAG`; None if pumonitor has written none, or a version that left no mark.

    Examples
    --------
    >>> described("Ours. Not ours.", "New.", own=own_mark("Ours."))
    'New. Not ours.'
    >>> described("Not ours.", "New.", own=None)
    'New.\n\nNot ours.'
    """
    if description in note:
        return note
    if own is None:
        # Versions that left no mark put the description in the place of the whole note.
        is_ours = note.startswith(description.partition("\n")[0])
        return description if is_ours or not note else f"{description}\n\n{note}"
    length = int(own.partition(" ")[0])
    for start in range(len(note) - length + 1):
        if own_mark(note[start : start + length]) == own:
            return note[:start] + description + note[start + length :]
    return note or description


def with_page(note: str, address: str) -> str:
    r"""The note with one line that links to a page, in the place of the line that did so before.

    Examples
    --------
    >>> with_page("Ask Ada.", "https://example.org/monitors/card-fraud")
    'Ask Ada.\n\n[Page in pumonitor](https://example.org/monitors/card-fraud)'
    """
    line = f"[Page in pumonitor]({address})"
    found = _PAGE.search(note)
    if found is None:
        return f"{note}\n\n{line}" if note else line
    before, after = note[: found.start()], _PAGE.sub("", note[found.end() :])
    return f"{before}{line}\n{after}" if found[0].endswith("\n") else before + line + after
