"""Secrets in texts: found where they are written out, and masked in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote, unquote_plus

HIDDEN: Final = "****"

_PASSWORD = re.compile(r"(?<=://)([^\s:/@?#]*):([^\s@]*)@")
_PORT = re.compile(r"\d+[/?#]")
_PARAMETER = re.compile(
    r"(?<=[?&;])([\w-]*(?:password|passwd|pwd|token|secret|signature|api_?key|access_?key)|sig)=([^&;#\s]+)",
    re.IGNORECASE,
)
_SHORTEST_HIDDEN = 3
_SHORTEST_PART = 6
"""Shorter parts of an address are words, such as a host's, and not tokens."""


class Mask:
    """Replaces secrets in a text by ****.

    Examples
    --------
    >>> Mask(["hunter2"])("no user 'me' with password hunter2")
    "no user 'me' with password ****"
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {
            form for secret in secrets for form in (secret, unquote(secret), unquote_plus(secret))
        }
        kept = sorted(
            (form for form in forms if len(form) >= _SHORTEST_HIDDEN), key=len, reverse=True
        )
        self._pattern = re.compile("|".join(map(re.escape, kept))) if kept else None

    def __call__(self, text: str) -> str:
        """Return the text with secrets replaced."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def __repr__(self) -> str:
        return "Mask()"


def without_password(address: str) -> str:
    """Return an address with password and secret parameters replaced, for display.

    Examples
    --------
    >>> without_password("postgresql://me:hunter2@db/scores?sslkey=a&token=b")
    'postgresql://me:****@db/scores?sslkey=a&token=****'
    """
    shown = _PASSWORD.sub(lambda found: f"{found[1]}:{HIDDEN}@", address)
    return _PARAMETER.sub(lambda found: f"{found[1]}={HIDDEN}", shown)


def hidden_parts(address: str, *, also_path: bool = False) -> Iterator[str]:
    """Parts of an address that must be masked: the whole of it, its password and its tokens.

    With `also_path` everything after the host too. For schemes other than http the host is
    included, as it may be a token.

    Examples
    --------
    >>> list(hidden_parts("postgresql://me:hunter2@db/scores"))
    ['postgresql://me:hunter2@db/scores', 'hunter2']
    """
    found = [match[2] for pattern in (_PASSWORD, _PARAMETER) for match in pattern.finditer(address)]
    if found or also_path:
        yield address
    yield from found
    if also_path:
        scheme, _, after = address.partition("://")
        if scheme in {"http", "https"}:
            after = after.partition("/")[2]
        yield from (part for part in re.split(r"[/?&=:@#,]", after) if len(part) >= _SHORTEST_PART)


def has_password(address: str) -> bool:
    """Whether a password is written out in an address.

    Examples
    --------
    >>> has_password("postgresql://me:hunter2@db/scores"), has_password("http://me:${TOKEN}@host")
    (True, False)
    """
    return _written_out(_PASSWORD, address) is not None


def secret_parameter_in(address: str) -> str | None:
    """Name of the first parameter of an address whose secret is written out, or None.

    Examples
    --------
    >>> secret_parameter_in("https://lake/c.parquet?token=abc")
    'token'
    """
    return _written_out(_PARAMETER, address)


def _written_out(pattern: re.Pattern[str], text: str) -> str | None:
    """User or parameter of the first secret that is no variable."""
    for found in pattern.finditer(text):
        if found[2] and "${" not in found[2] and not _PORT.match(found[2]):
            return found[1]
    return None
