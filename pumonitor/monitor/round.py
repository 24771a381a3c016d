"""Result of a round of work, and the callback that reports its progress."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.ledger.results.retention import Forgotten
from pumonitor.monitor.windows.input_findings import WindowFinding

if TYPE_CHECKING:
    from pumonitor.monitor.delivery.sending.delivery import Delivery

_log = logging.getLogger("pumonitor")

OnProgress = Callable[[str, int, int], None]
"""Called with the current step, the work done and all work; 0 of 0 if that is unknown."""


def no_progress(_what: str, _done: int, _of: int) -> None:
    """Report nothing."""


@dataclass(slots=True, kw_only=True)
class Round:
    """Result of a round of work.

    Attributes
    ----------
    planned, collected, evaluated : int
        Numbers of windows.
    failures : list of str
        One sentence per failed attempt.
    bad_input : int
        Failures that will repeat until the data or the configuration change.
    findings : list of WindowFinding
        Problems of the rows of collected windows.
    deliveries : mapping of str to Delivery
        Destination to the result of its delivery.
    unreadable : dict of str to str
        Monitor to why its tables could not be read.
    notes : list of str
        Sentences about clocks that were set, and monitors that are gone with incidents open.
    forgotten : Forgotten
        What was deleted of superseded evaluations.
    """

    planned: int = 0
    collected: int = 0
    evaluated: int = 0
    failures: list[str] = field(default_factory=list)
    bad_input: int = 0
    findings: list[WindowFinding] = field(default_factory=list)
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    forgotten: Forgotten = field(default_factory=Forgotten)

    def add(self, other: Round) -> None:
        """Add the result of another worker."""
        self.planned += other.planned
        self.collected += other.collected
        self.evaluated += other.evaluated
        self.failures += other.failures
        self.bad_input += other.bad_input
        self.findings += other.findings

    def failed(self, what: str, error: Exception) -> str:
        """Count a failed attempt. Unexpected errors are logged with their traceback.

        Parameters
        ----------
        what : str
            Monitor and window.
        error : Exception

        Returns
        -------
        str
            The error's message.
        """
        if isinstance(error, PumonitorError):
            said = str(error)
            self.bad_input += isinstance(error, InputError)
        else:
            said = f"{type(error).__name__}: {error}"
            _log.error("%s failed unexpectedly", what, exc_info=error)
        self.failures.append(f"{what}: {said}")
        return said
