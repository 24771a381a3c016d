"""Secrets: read from the environment or files, refused when written out, masked in text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from pumonitor.errors import did_you_mean
from pumonitor.monitor.config.text.problems import Place, Problem

__all__ = ["Expanded", "Mask", "expand", "hidden_parts", "without_password"]

HIDDEN: Final = "****"

_REFERENCE = re.compile(r"\$(\$?)\{([^{}\n]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS = re.compile(r"\s*[A-Za-z][\w+.-]*://")
_PASSWORD = re.compile(r"(?<=://)([^\s:/@?#]*):([^\s@]*)@")
_PORT = re.compile(r"\d+[/?#]")
_PARAMETER = re.compile(
    r"(?<=[?&;])([\w-]*(?:password|passwd|pwd|token|secret|signature|api_?key|access_?key)|sig)=([^&;#\s]+)",
    re.IGNORECASE,
)
_NEVER_LITERAL: Final = ("secret", "password", "token")
_OFTEN_SECRET: Final = ("apprise",)
_SHORTEST_HIDDEN = 3
_SHORTEST_PART = 6
"""Shorter parts of an address are words, such as a host's, and not tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """Result of replacing every ${NAME} in a file's values.

    Attributes
    ----------
    value : object
    problems : tuple of Problem
    missing : tuple of Problem
        The problems with variables that are not set or cannot be read.
    warnings : tuple of Problem
        Literal values that usually contain a secret.
    mask : Mask
        Masks everything that came from the environment.
    """

    value: Any
    problems: tuple[Problem, ...]
    missing: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    mask: Mask


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


def expand(value: Any, environment: Mapping[str, str]) -> Expanded:
    """Replace ${NAME} in values from the environment, and refuse secrets that are written out.

    If NAME is not set but NAME_FILE is, the value is the content of that file, the convention of
    container platforms for secrets. $${NAME} is an escape for the literal text.

    Examples
    --------
    >>> expand({"uri": "http://me:${TOKEN}@host"}, {"TOKEN": "abc"}).value
    {'uri': 'http://me:abc@host'}
    >>> expand({"uri": "${TOKEN}"}, {"TOKENS": "abc"}).problems[0].message
    "needs the environment variable TOKEN, which is not set; did you mean 'TOKENS'?"
    """
    walk = _Expansion(environment)
    expanded = walk.value(value, ())
    return Expanded(
        value=expanded,
        problems=tuple(walk.problems),
        missing=tuple(walk.missing),
        warnings=tuple(walk.warnings),
        mask=Mask(walk.read),
    )


class _Expansion:
    """Walks over the values once and collects problems."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self.missing: list[Problem] = []
        self.warnings: list[Problem] = []
        self.read: list[str] = []
        self._environment = environment

    def value(self, value: Any, place: Place) -> Any:
        if isinstance(value, dict):
            return {name: self.value(item, (*place, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item, (*place, at)) for at, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        self._refuse_secrets(value, place)
        return _REFERENCE.sub(lambda found: self._replaced(found, place), value)

    def _replaced(self, found: re.Match[str], place: Place) -> str:
        escaped, name = found[1], found[2]
        if escaped:
            return found[0][1:]
        if not _NAME.fullmatch(name):
            self._refuse(place, "has a ${...} that names no variable: write ${NAME}")
            return ""
        read = self._variable(name, place)
        self.read.append(read)
        return read

    def _variable(self, name: str, place: Place) -> str:
        if name in self._environment:
            if not self._environment[name].strip():
                self._miss(place, f"needs the environment variable {name}, which is empty: set it")
            return self._environment[name]
        file = self._environment.get(f"{name}_FILE")
        if file is None:
            hint = did_you_mean(name, self._environment, likeness=0.8)
            end = hint or f": set it, or {name}_FILE to a file that holds it"
            self._miss(place, f"needs the environment variable {name}, which is not set{end}")
            return ""
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            self._miss(place, f"needs the file that {name}_FILE names, which cannot be read: {why}")
            return ""

    def _refuse_secrets(self, text: str, place: Place) -> None:
        """Refuse secrets written out in the file. Messages repeat no part of them."""
        key = next((part for part in reversed(place) if isinstance(part, str)), "")
        if key in _NEVER_LITERAL and not _REFERENCE.search(text):
            self._refuse(
                place, f"is written out: put it in the environment and write ${{{key.upper()}}}"
            )
        if not _ADDRESS.match(text):
            return
        if _has_literal(_PASSWORD, text):
            self._refuse(
                place,
                "holds a password: put it in the environment and write ${NAME} in its place, "
                "or for the whole address",
            )
        elif found := _has_literal(_PARAMETER, text):
            self._refuse(
                place,
                f"holds a secret ({found}=...): put it in the environment and write ${{NAME}}",
            )
        elif key in _OFTEN_SECRET and not _REFERENCE.search(text):
            self.warnings.append(
                Problem(
                    place=place,
                    message="is written out, and such addresses usually hold a token: put it "
                    "in the environment and write ${NAME}",
                )
            )

    def _refuse(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place=place, message=message))

    def _miss(self, place: Place, message: str) -> None:
        self._refuse(place, message)
        self.missing.append(self.problems[-1])


def _has_literal(pattern: re.Pattern[str], text: str) -> str | None:
    """Name of the first user or parameter whose secret is written out, or None."""
    for found in pattern.finditer(text):
        if found[2] and "${" not in found[2] and not _PORT.match(found[2]):
            return found[1] or "password"
    return None
