"""Who we are to an MLflow server with accounts: a user with a password, or a token."""

from __future__ import annotations

import configparser
import os
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from pumonitor.errors import InputError

_USER, _PASSWORD, _TOKEN = (f"MLFLOW_TRACKING_{name}" for name in ("USERNAME", "PASSWORD", "TOKEN"))

HOW_TO_SIGN_IN: Final = (
    f"set {_USER} and {_PASSWORD}, or {_TOKEN} (each also with _FILE for a file that holds it), or "
    "write ~/.mlflow/credentials"
)


def credentials_from_files(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that MLflow reads, from the files that variables with ``_FILE`` name.

    MLflow does not know these files, which container platforms mount for secrets. What cannot be
    read is left out; `Credentials.known` says so.
    """
    found = {}
    for name, file in _files(environment).items():
        with suppress(OSError, UnicodeDecodeError):
            found[name] = file.read_text(encoding="utf-8").strip()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What MLflow's client sends with each request.

    Attributes
    ----------
    user : str
        "" without one.
    authorization : str
        Header, "" without credentials.
    """

    user: str = ""
    authorization: str = ""

    @classmethod
    def known(cls, address: str, environment: Mapping[str, str] | None = None) -> Credentials:
        """Those of an address, the environment and MLflow's file, in the order of MLflow's client.

        Raises
        ------
        InputError
            If a file of a variable cannot be read.
        """
        known = dict(os.environ if environment is None else environment)
        read = credentials_from_files(known)
        for name, file in _files(known).items():
            if name not in read:
                msg = f"the file of {name}_FILE, {file}, cannot be read: repair it, or set {name}"
                raise InputError(msg)
        known |= read
        of_file = _of_file(Path("~/.mlflow/credentials").expanduser())
        user = known.get(_USER) or of_file.get(_USER.lower(), "")
        password = known.get(_PASSWORD) or of_file.get(_PASSWORD.lower(), "")
        url = urlsplit(address)
        if url.username and url.password is not None:
            user, password = unquote(url.username), unquote(url.password)
        if user and password:
            both = b64encode(f"{user}:{password}".encode()).decode()
            return cls(user=user, authorization=f"Basic {both}")
        token = known.get(_TOKEN, "")
        return cls(authorization=f"Bearer {token}" if token else "")

    @property
    def shown(self) -> str:
        """Who we are, without secrets."""
        if self.user:
            return f"the user {self.user!r}"
        return "the token" if self.authorization else "requests without a user"


def _files(environment: Mapping[str, str]) -> dict[str, Path]:
    """Variable without a value to the file that holds it."""
    return {
        name: Path(environment[f"{name}_FILE"])
        for name in (_USER, _PASSWORD, _TOKEN)
        if name not in environment and f"{name}_FILE" in environment
    }


def _of_file(path: Path) -> Mapping[str, str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path)
    except (configparser.Error, UnicodeDecodeError, OSError):
        return {}
    return dict(parser["mlflow"]) if "mlflow" in parser else {}
