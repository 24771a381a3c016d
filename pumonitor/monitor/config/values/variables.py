"""Environment variables in a configuration: ${NAME}, and secrets that are read when used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pumonitor.errors import did_you_mean
from pumonitor.monitor.config.text.problems import Place, Problem, problems_error

_VARIABLE = re.compile(r"\$(\$?)\{([^{}\n]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN: Final = "**********"


def has_variable(text: str) -> bool:
    """Whether a ${NAME}, or the escaped $${NAME}, is in a text."""
    return _VARIABLE.search(text) is not None


def misnamed_variable(text: str) -> bool:
    """Whether a ${...} in a text cannot be the name of a variable."""
    return any(not found[1] and not _NAME.fullmatch(found[2]) for found in _VARIABLE.finditer(text))


class Replaced(NamedTuple):
    """A text whose variables were replaced by their values.

    Attributes
    ----------
    text : str
        A variable without a value stays in it as it was written.
    values : list of str
        Values that were put in.
    missing : dict of str to str
        Name of each variable without a value to what is wrong and what to do.
    """

    text: str
    values: list[str]
    missing: dict[str, str]


def replace_variables(text: str, environment: Mapping[str, str]) -> Replaced:
    """Replace each ${NAME} in a text by the value of the variable.

    If NAME is not set but NAME_FILE is, the value is the content of that file, the convention of
    container platforms for secrets. $${NAME} is an escape for the literal text.

    Examples
    --------
    >>> replace_variables("http://me:${TOKEN}@host", {"TOKEN": "abc"}).text
    'http://me:abc@host'
    >>> replace_variables("${TOKEN}", {"TOKENS": "abc"}).missing["TOKEN"]
    "needs the environment variable TOKEN, which is not set; did you mean 'TOKENS'?"
    """
    values: list[str] = []
    missing: dict[str, str] = {}

    def value(found: re.Match[str]) -> str:
        escape, name = found[1], found[2]
        if escape:
            return found[0][1:]
        if not _NAME.fullmatch(name):
            return found[0]
        try:
            values.append(_value(name, environment))
        except ValueError as error:
            missing[name] = str(error)
            return found[0]
        return values[-1]

    return Replaced(_VARIABLE.sub(value, text), values, missing)


def _value(name: str, environment: Mapping[str, str]) -> str:
    if name in environment:
        if environment[name].strip():
            return environment[name]
        msg = f"needs the environment variable {name}, which is empty: set it"
        raise ValueError(msg)
    file = environment.get(f"{name}_FILE")
    if file is None:
        hint = did_you_mean(name, environment, likeness=0.8)
        end = hint or f": set it, or {name}_FILE to a file that holds it"
        msg = f"needs the environment variable {name}, which is not set{end}"
        raise ValueError(msg)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        msg = f"needs the file of {name}_FILE, which cannot be read: {why}"
        raise ValueError(msg) from None


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text of the configuration that may be secret, as it is written there.

    Its variables are read from the environment each time it is used, so neither a representation,
    a dump, nor the hash of a configuration can have their values in it.

    Attributes
    ----------
    written : str
        Such as ``postgresql://me:${PASSWORD}@host/scores``.
    environment : mapping of str to str or None
        Where variables are looked up. None: the text is used as it is.
    file : str
        Name of the configuration file, for errors.
    place : tuple of str and int
    line : int or None
        Where in the file it is.
    """

    written: str
    environment: Mapping[str, str] | None = field(default=None, compare=False)
    file: str = ""
    place: Place = ()
    line: int | None = None

    def __repr__(self) -> str:
        return f"Secret('{_SHOWN}')"

    def get(self) -> str:
        """The text with the values of its variables.

        Raises
        ------
        InputError
            If a variable is not set; the message has the place and line of the text.
        """
        problems = self.missing()
        if problems:
            raise problems_error(self.file, problems)
        return self._replaced().text

    def missing(self) -> list[Problem]:
        """Its variables that are not set or cannot be read, none if it can be used."""
        return [
            Problem(place=self.place, message=message, line=self.line)
            for message in self._replaced().missing.values()
        ]

    def as_far_as_known(self) -> tuple[str, tuple[str, ...]]:
        """The text in which variables without a value stay as written, and these variables."""
        replaced = self._replaced()
        return replaced.text, tuple(f"${{{name}}}" for name in replaced.missing)

    def _replaced(self) -> Replaced:
        if self.environment is None:
            return Replaced(self.written, [], {})
        return replace_variables(self.written, self.environment)

    @classmethod
    def _validated(cls, given: Any) -> Secret:
        secret = cls(given) if isinstance(given, str) else given
        if not isinstance(secret, cls):
            msg = "must be text: put it in quotes"
            raise ValueError(msg)
        if not secret.written:
            msg = "must not be empty"
            raise ValueError(msg)
        return secret

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Text is taken, and never written out again."""
        return core_schema.no_info_plain_validator_function(
            cls._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda secret: _SHOWN, return_schema=core_schema.str_schema()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Text that editors do not show."""
        return {"type": "string", "format": "password", "writeOnly": True, "minLength": 1}
