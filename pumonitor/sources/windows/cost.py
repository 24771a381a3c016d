"""What reading predictions costs: told before and after, with a limit that is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final, TypeVar

from pumonitor.errors import InputError
from pumonitor.scans import Scan
from pumonitor.sources.column_types.time_columns import EARLIEST, LATEST
from pumonitor.sources.windows.counts_engine import Engine, Reading, TellsCost
from pumonitor.sources.windows.counts_query import CountQuery, Statement
from pumonitor.sources.windows.described import named_columns
from pumonitor.sources.windows.label_parts import of_each_part
from pumonitor.text import size_text

_ALWAYS: Final = (EARLIEST, LATEST)
_Query = TypeVar("_Query", bound=CountQuery)


class BeyondLimitError(InputError):
    """More would be read than `max_bytes` allows; nothing was."""


class Stopwatch:
    """Seconds since it was made, by a clock that is never set."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How many have passed."""
        return time.monotonic() - self._began


class Cost:
    """What one engine reads of predictions.

    Parameters
    ----------
    engine : Engine
        Of the predictions.
    max_bytes : int or None
        What one statement about predictions may read.
    """

    def __init__(self, engine: Engine, *, max_bytes: int | None) -> None:
        self._engine = engine
        self._most = max_bytes
        # Asked once: to some engines it is a statement of its own.
        self._version = cache(engine.version)

    def expected(
        self,
        query: _Query,
        asked: Callable[[_Query], Statement],
        *,
        names: tuple[str, ...] = (),
    ) -> Scan | None:
        """What a statement would read, or getting its rows ready; None where nothing tells.

        Of several about parts of labels each reads as much as the first.

        Parameters
        ----------
        query : CountQuery
        asked : callable
            Makes the statement of the query.
        names : tuple of str, optional
            Columns of predictions that are read; by default all that are named.

        Raises
        ------
        SourceError
            If the engine cannot be asked.
        """
        if not isinstance(self._engine, TellsCost):
            return None
        table, parts = query.predictions, of_each_part(query)
        reading = Reading(
            statement=asked(parts[0]),
            relation=table.relation,
            names=names or tuple(named_columns(table)),
            time=table.time.column.name,
            bounds=None if query.between == _ALWAYS else table.time.bounds(*query.between),
        )
        scan = self._engine.expected(reading, about=table.relation.name)
        return None if scan is None else replace(scan, read=scan.read * len(parts))

    def check(
        self,
        query: _Query,
        asked: Callable[[_Query], Statement],
        *,
        what: str,
        names: tuple[str, ...] = (),
    ) -> None:
        """Refuse what would read more than `max_bytes`.

        Parameters
        ----------
        query, asked, names
            As of `expected`.
        what : str
            What it is for, such as "finding the newest prediction".

        Raises
        ------
        BeyondLimitError
            If it would.
        InputError
            If the engine does not tell, so that a limit cannot be kept.
        """
        if self._most is None:
            return
        scan = self.expected(query, asked, names=names)
        table = query.predictions
        if scan is None:
            msg = (
                f"max_bytes cannot be kept for {table.relation.name}: {self._engine.dialect.name} "
                "does not tell what a statement would read; leave max_bytes out, and set a limit "
                "where the rows are"
            )
            raise InputError(msg)
        if scan.read > self._most:
            msg = (
                f"{what} would read {scan.said}, of {table.relation.name}: max_bytes is "
                f"{size_text(self._most)}, so nothing was read; partition or sort the table by "
                f"'{table.time.column.name}', make windows shorter, or raise max_bytes of "
                "predictions"
            )
            raise BeyondLimitError(msg)

    def told(self, watch: Stopwatch, *, windows: int) -> Mapping[str, str]:
        """What is stored of reading: engine, version, seconds, and what the engine tells.

        Parameters
        ----------
        watch : Stopwatch
            Since reading began.
        windows : int
            How many were counted together.
        """
        together = {"windows": str(windows)} if windows > 1 else {}
        spent = self._engine.spent() if isinstance(self._engine, TellsCost) else {}
        return {
            "engine": self._engine.dialect.name,
            "version": self._version(),
            "seconds": f"{watch.seconds:.3f}",
            **together,
            **spent,
        }
