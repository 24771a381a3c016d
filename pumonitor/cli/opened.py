"""The state database of a configuration, open for one command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pumonitor.cli.outcome import errors_as_messages

if TYPE_CHECKING:
    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger


class Opened(NamedTuple):
    """What a command that asks or changes the state database works with."""

    configuration: Configuration
    monitors: Mapping[str, Monitor]
    ledger: Ledger


@contextmanager
def opened_ledger(config: Path, monitor: str | None = None) -> Iterator[Opened]:
    """One monitor of a configuration, or all, and the ledger; errors are printed as messages."""
    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger
        from pumonitor.monitor.config.file import read_configuration

        configuration = read_configuration(config, needs="ledger").configuration
        monitors = chosen_monitors(configuration, monitor)
        with open_ledger(configuration) as ledger:
            yield Opened(configuration, monitors, ledger)
