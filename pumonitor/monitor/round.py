"""What a round of work came to, and whom it tells how far it is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.windows.input_findings import WindowFinding

if TYPE_CHECKING:
    from pumonitor.monitor.delivery.sending.delivery import Delivery

__all__ = ["OnProgress", "Round", "no_progress"]

_log = logging.getLogger("pumonitor")

OnProgress = Callable[[str, int, int], None]
"""Called with what is done, how much work is finished, and of how much; 0 of 0: no telling."""


def no_progress(_what: str, _done: int, _of: int) -> None:
    """Say nothing."""


@dataclass(slots=True, kw_only=True)
class Round:
    """What a round of work came to.

    Attributes
    ----------
    planned, collected, evaluated : int
        Windows.
    failures : list of str
        One sentence for each attempt that failed.
    bad_input : int
        Those of them that come again until the data or the configuration change.
    findings : list of WindowFinding
        What people have to know of the rows of windows that were collected.
    deliveries : mapping of str to Delivery
        By destination.
    stopped : mapping of str to datetime
        The last prediction of each monitor of which no window is due before there are others.
    """

    planned: int = 0
    collected: int = 0
    evaluated: int = 0
    failures: list[str] = field(default_factory=list)
    bad_input: int = 0
    findings: list[WindowFinding] = field(default_factory=list)
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    stopped: Mapping[str, datetime] = field(default_factory=dict)

    def add(self, other: Round) -> None:
        """Count another worker's work as well."""
        self.planned += other.planned
        self.collected += other.collected
        self.evaluated += other.evaluated
        self.failures += other.failures
        self.bad_input += other.bad_input
        self.findings += other.findings

    def failed(self, what: str, error: Exception) -> str:
        """Count an attempt that failed; an error nobody foresaw is logged with its traceback.

        Parameters
        ----------
        what : str
            Monitor and window.
        error : Exception

        Returns
        -------
        str
            What is said of the error.
        """
        if isinstance(error, PumonitorError):
            said = str(error)
            self.bad_input += isinstance(error, InputError)
        else:
            said = f"{type(error).__name__}: {error}"
            _log.error("%s failed unexpectedly", what, exc_info=error)
        self.failures.append(f"{what}: {said}")
        return said
