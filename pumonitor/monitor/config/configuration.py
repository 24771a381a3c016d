"""The model of the configuration file `pumonitor.yaml` as a whole."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from pumonitor.masks import Mask, hidden_parts
from pumonitor.monitor.config.sections.destinations import KINDS, Destination, Tracking
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.pages import Pages
from pumonitor.monitor.config.sections.rule_checks import check_destinations
from pumonitor.monitor.config.text.problems import Problem
from pumonitor.monitor.config.values.addresses import Located
from pumonitor.monitor.config.values.kinds import Duration
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.monitor.page_addresses import PageAddresses

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def _readable(secrets: Iterable[Secret]) -> list[str]:
    return [secret.get() for secret in secrets if not secret.missing()]


class Configuration(Located):
    """The whole file.

    Attributes
    ----------
    state : Secret
        Address of the state database, SQLite or PostgreSQL; ``sqlite:///pumonitor.db`` without it.
    tracking : Tracking or None
        The MLflow server that results are sent to; without it they stay in the state database.
    destinations : mapping of str to Destination
        Who is notified of alerts, each under a name of its own.
    pages : Pages or None
        Where people open the pages, for links to them.
    keep_delivered : timedelta
        How long delivered messages are kept in the state database.
    keep_evaluations : timedelta or None
        How long evaluations are kept that later ones have superseded; without it for ever.
    at_once : int
        How many monitors whose tables are on one server ``pumonitor serve`` works on at the same
        time. Of files of this machine it is always one.
    monitors : mapping of str to Monitor
        The monitors, each under a name of its own.
    """

    state: Secret = Secret("sqlite:///pumonitor.db")
    tracking: Tracking | None = None
    destinations: dict[str, Destination] = Field(default_factory=dict)
    pages: Pages | None = None
    keep_delivered: Duration = timedelta(days=30)
    keep_evaluations: Duration | None = None
    at_once: Annotated[int, Field(ge=1, strict=True)] = 2
    monitors: dict[str, Monitor]

    _file: Path = PrivateAttr(default=Path("pumonitor.yaml"))

    def model_post_init(self, context: Any, /) -> None:
        """Store the file and its folder, and the name of each monitor in it."""
        super().model_post_init(context)
        self._file = (context or {}).get("file", self._file)
        for name, monitor in self.monitors.items():
            monitor._name = name

    @property
    def place(self) -> str:
        """The machine and the file, to tell from others that use the same state database."""
        return f"{socket.gethostname()}:{self._file}"

    @property
    def state_address(self) -> str:
        """Address of the state database, with its password; a file's path is made absolute."""
        return self.absolute(self.state.get())

    @property
    def page_addresses(self) -> PageAddresses | None:
        """Addresses of the pages; None if it is not known where they are."""
        return None if self.pages is None else PageAddresses(self.pages.address)

    @property
    def mask(self) -> Mask:
        """A mask that replaces in a text every secret of this configuration that can be read."""
        addresses = [self.state]
        for monitor in self.monitors.values():
            addresses += monitor.secrets
        if self.tracking is not None:
            addresses += self.tracking.secrets
        parts = [part for one in _readable(addresses) for part in hidden_parts(one)]
        for destination in self.destinations.values():
            address, *keys = destination.secrets
            also_path = KINDS[destination.kind].is_secret
            for one in _readable([address]):
                parts += hidden_parts(one, also_path=also_path)
            parts += _readable(keys)
        return Mask(parts)

    @property
    def missing(self) -> tuple[Problem, ...]:
        """Variables of secrets that are not set or cannot be read."""
        secrets = [self.state]
        if self.tracking is not None:
            secrets += self.tracking.secrets
            secrets += [self.tracking.ui] if self.tracking.ui is not None else []
        secrets += [secret for one in self.destinations.values() for secret in one.secrets]
        secrets += [secret for one in self.monitors.values() for secret in one.secrets]
        return tuple(problem for secret in secrets for problem in secret.missing())

    @field_validator("state")
    @classmethod
    def _kind_of_database(cls, state: Secret) -> Secret:
        if state.missing():
            return state
        dialect = state.get().partition("://")[0].partition("+")[0]
        if dialect not in {"sqlite", "postgresql"}:
            msg = "must be sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"
            raise ValueError(msg)
        return state

    @field_validator("keep_evaluations")
    @classmethod
    def _some_time(cls, given: timedelta | None) -> timedelta | None:
        if given == timedelta():
            msg = "must be longer than 0; leave it out to keep all of them"
            raise ValueError(msg)
        return given

    @field_validator("monitors")
    @classmethod
    def _with_known_destinations(
        cls, monitors: dict[str, Monitor], info: ValidationInfo
    ) -> dict[str, Monitor]:
        destinations = info.data.get("destinations")
        for name, monitor in monitors.items() if destinations is not None else ():
            check_destinations(monitor.rules, destinations or (), monitor=name)
        return monitors

    @field_validator("monitors")
    @classmethod
    def _names(cls, monitors: dict[str, Monitor]) -> dict[str, Monitor]:
        if not monitors:
            msg = "must contain one monitor or more; pumonitor init writes one"
            raise ValueError(msg)
        folded: dict[str, str] = {}
        for name in monitors:
            if not _NAME.fullmatch(name):
                msg = f"has a name with other characters than A-Z, a-z, 0-9, _ . and -: {name!r}"
                raise ValueError(msg)
            if name.casefold() in folded:
                msg = (
                    f"has two monitors whose names differ in case only: {folded[name.casefold()]}, "
                    f"{name}"
                )
                raise ValueError(msg)
            folded[name.casefold()] = name
        return monitors
