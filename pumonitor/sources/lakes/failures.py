"""What a lake's library says when it fails, in short and without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from pumonitor.errors import ExtraMissingError, PumonitorError, SourceError
from pumonitor.sources.reach.remote_failures import without_signatures

_MOST: Final = 300
_SHORTEST_SECRET: Final = 4
_SECRET_NAME: Final = re.compile(r"key|secret|token|passw|credential|signature|sas", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"://[^/@\s]*?:([^/@\s]+)@")
_OF_A_TERMINAL: Final = re.compile(r"\x1b\[\d*m|↳")
# Answers of stores repeat keys and signatures, and addresses may be signed.
_ANSWER: Final = re.compile(r"<[?A-Za-z!].*", re.DOTALL)
_NO_FILE: Final = re.compile(
    r"No such file|not found|NoSuchKey|does not exist|PATH_NOT_FOUND|\b404\b", re.IGNORECASE
)


def in_our_words(
    error: Exception, *, name: str, version: str = "", secrets: Iterable[str] = ()
) -> PumonitorError:
    """The error to raise for one of a lake's library.

    Parameters
    ----------
    error : Exception
    name : str
        Of the table, for messages.
    version : str
        Which was being read; "" if none was open yet.
    secrets : iterable of str
        What no message may repeat, beside those of the environment.
    """
    if isinstance(error, PumonitorError):
        return error
    said = _in_short(str(error) or type(error).__name__, [*secrets, *secrets_in(os.environ)])
    if version and _NO_FILE.search(str(error)):
        return SourceError(
            f"{name} cannot be read: files of its {version} were deleted while it was read, or "
            f"before ({said}); read it again, and keep deleted files for longer than a window takes"
        )
    return SourceError(f"{name} cannot be read: {said}")


def secrets_in(settings: Mapping[str, str]) -> list[str]:
    """Values of settings that are secret by their names, and passwords of addresses in others.

    Examples
    --------
    >>> secrets_in({"uri": "postgresql://me:hunter2@host/db", "s3.secret-access-key": "abcdef"})
    ['hunter2', 'abcdef']
    """
    found: list[str] = []
    for name, value in settings.items():
        found += _PASSWORD.findall(value)
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            found.append(value)
    return found


def extra_missing(name: str, *, package: str, extra: str) -> ExtraMissingError:
    """The error about a table whose library is not installed."""
    return ExtraMissingError(
        f"{name} is read with the package {package}, which is not installed: "
        f"pip install 'pumonitor[{extra}]'"
    )


def _in_short(said: str, secrets: Iterable[str]) -> str:
    """The first lines without what is for a terminal, an answer's body, or a secret."""
    plain = _ANSWER.sub("", _OF_A_TERMINAL.sub("", said))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    shown = without_signatures(", ".join(lines))
    # The longest first: one may be part of another.
    for secret in sorted(set(secrets), key=len, reverse=True):
        shown = shown.replace(secret, "***")
    return shown if len(shown) <= _MOST else f"{shown[:_MOST]}..."
