"""Replace ${NAME} in the values of a file, but for secrets; refuse secrets that are written out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pumonitor.masks import Mask, has_password, secret_parameter_in
from pumonitor.monitor.config.text.problems import Place, Problem
from pumonitor.monitor.config.values.variables import (
    Secret,
    has_variable,
    misnamed_variable,
    replace_variables,
)

_ADDRESS = re.compile(r"\s*[A-Za-z][\w+.-]*://")
_NEVER_LITERAL: Final = ("secret", "password", "token")
_OFTEN_SECRET: Final = ("apprise",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """Result of replacing ${NAME} in a file's values.

    Attributes
    ----------
    value : object
        Where a secret may be, there is a `Secret`, whose variables are read when it is used.
    problems : tuple of Problem
        Secrets that are written out, and variables that are missing elsewhere.
    missing : tuple of Problem
        Variables of secrets that are not set or cannot be read.
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


def expand(
    value: Any,
    environment: Mapping[str, str],
    *,
    file: str = "pumonitor.yaml",
    lines: Mapping[Place, int] | None = None,
) -> Expanded:
    """Replace ${NAME} in values from the environment, and refuse secrets that are written out.

    Parameters
    ----------
    value : object
    environment : mapping of str to str
    file : str
    lines : mapping of place to int, optional
        Name of the file and lines of its places, which errors about a secret show when it is used.

    Examples
    --------
    >>> expand({"zone": "${ZONE}"}, {"ZONE": "UTC"}).value
    {'zone': 'UTC'}
    >>> secret = expand({"tracking": {"uri": "http://${TOKEN}@host"}}, {}).value["tracking"]["uri"]
    >>> secret.written
    'http://${TOKEN}@host'
    """
    walk = _Expansion(environment, file, lines or {})
    expanded = walk.value(value, ())
    return Expanded(
        value=expanded,
        problems=tuple(walk.problems),
        missing=tuple(walk.missing),
        warnings=tuple(walk.warnings),
        mask=Mask(walk.read),
    )


_TABLES: Final = (
    ("predictions",),
    ("positives",),
    ("reviews",),
    ("audits", "verdicts"),
    ("challengers", "features"),
)
"""Parts of a monitor that name a table."""


def _may_be_secret(place: Place) -> bool:
    """Whether a text at this place is an address, path or key that only some commands need."""
    match place:
        case ("state",) | ("tracking", "uri" | "registry" | "ui"):
            return True
        case ("destinations", _, "apprise" | "webhook" | "secret" | "alertmanager"):
            return True
        case ("monitors", _, *table, "source") | ("monitors", _, *table, "source", "path" | "url"):
            # A monitor may have one queue, or a list of them.
            return tuple(part for part in table if not isinstance(part, int)) in _TABLES
        case _:
            return False


class _Expansion:
    """Walks over the values once and collects problems."""

    def __init__(
        self, environment: Mapping[str, str], file: str, lines: Mapping[Place, int]
    ) -> None:
        self.problems: list[Problem] = []
        self.missing: list[Problem] = []
        self.warnings: list[Problem] = []
        self.read: list[str] = []
        self._environment = environment
        self._file = file
        self._lines = lines

    def value(self, value: Any, place: Place) -> Any:
        if isinstance(value, dict):
            return {name: self.value(item, (*place, name)) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item, (*place, at)) for at, item in enumerate(value)]
        return self._text(value, place) if isinstance(value, str) else value

    def _text(self, text: str, place: Place) -> str | Secret:
        self._refuse_secrets(text, place)
        if misnamed_variable(text):
            self._refuse(place, "has a ${...} without the name of a variable: write ${NAME}")
        replaced = replace_variables(text, self._environment)
        self.read += replaced.values
        may_be_secret = _may_be_secret(place)
        missing = self.missing if may_be_secret else self.problems
        missing += [Problem(place=place, message=message) for message in replaced.missing.values()]
        if may_be_secret:
            line = self._lines.get(place)
            return Secret(text, self._environment, self._file, place, line)
        return replaced.text

    def _refuse_secrets(self, text: str, place: Place) -> None:
        """Refuse secrets written out in the file. Messages repeat no part of them."""
        key = next((part for part in reversed(place) if isinstance(part, str)), "")
        if key in _NEVER_LITERAL and not has_variable(text):
            self._refuse(
                place,
                "is a secret in plain text: put it in the environment and write "
                f"${{{key.upper()}}}",
            )
        if not _ADDRESS.match(text):
            return
        if has_password(text):
            self._refuse(
                place,
                "contains a password: put the password or the whole address in the environment "
                "and write ${NAME} in its place",
            )
        elif found := secret_parameter_in(text):
            self._refuse(
                place,
                f"contains a secret ({found}=...): put it in the environment and write ${{NAME}}",
            )
        elif key in _OFTEN_SECRET and not has_variable(text):
            self.warnings.append(
                Problem(
                    place=place,
                    message="is in plain text, and such addresses usually contain a token: put it "
                    "in the environment and write ${NAME}",
                )
            )

    def _refuse(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place=place, message=message))
