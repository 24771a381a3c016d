"""The auxiliary score of a monitor: trained once on its first windows, then applied to each pane.

1. Before a window is evaluated, `AuxiliaryScores.prepare` trains the score as soon as there are
   enough windows. It then applies the score to every pane without auxiliary tables: it samples rows
   with features and stores a score table per series in the ledger.
2. `AuxiliaryScores.of_pane` reads these tables from the ledger, as known at a pane's moment, or
   gives the reason why there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pumonitor.errors import ExtraMissingError, InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.results.auxiliary import (
    AuxiliarySeries,
    StoredAuxiliary,
    panes_without_auxiliary,
    store_auxiliary,
    store_auxiliary_series,
    stored_auxiliary,
    stored_auxiliary_series,
)
from pumonitor.monitor.windows.auxiliary.configured import has_auxiliary
from pumonitor.monitor.windows.auxiliary.rows import auxiliary_series_of
from pumonitor.monitor.windows.auxiliary.training import trained, training_of
from pumonitor.ports import Pane, PredictionSource, SampleRequest
from pumonitor.prior.auxiliary import AuxiliaryScore
from pumonitor.text import moment_text

_ROWS: Final = 20_000
"""Rows sampled of a window, and at most so many of its labeled rows, for all of its panes."""

_KEPT: Final = 8
_UNTRAINED: Final = "it could not be trained"


class AuxiliaryScores:
    """Auxiliary scores of monitors, from the ledger.

    Parameters
    ----------
    ledger : LedgerReader
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self._read: dict[str, AuxiliaryScore] = {}

    # -- before a window is evaluated ---------------------------------------------------------

    def prepare(
        self,
        monitor: Monitor,
        configuration: str,
        window_key: str,
        panes: Sequence[Pane],
        source: Callable[[], PredictionSource],
    ) -> None:
        """Train the score if that is possible by now, and apply it to all panes up to these.

        If features cannot be read or the score cannot be trained, the reason is stored.

        Parameters
        ----------
        monitor : Monitor
        configuration : str
        window_key : str
        panes : sequence of Pane
            Collected panes of one window that are about to be evaluated.
        source : callable
            Opens the monitor's tables if they are needed.

        Raises
        ------
        SourceError
            If a table cannot be read now.
        """
        chosen = [one for one in panes if one.number <= monitor.pane_schedule.mature]
        if not chosen or not has_auxiliary(monitor):
            return
        last = max(chosen, key=lambda one: one.as_of)
        stored = self.stored(monitor, configuration)
        if stored is None:
            training = training_of(monitor, configuration, last, self._ledger)
            if isinstance(training, str):
                return
            try:
                stored = self._kept(monitor, configuration, trained(training, source()))
            except (InputError, ExtraMissingError) as error:
                self._note(window_key, chosen, f"it could not be trained: {error}")
                return
        missing: dict[str, set[Pane]] = {}
        for pane in chosen:
            # Per moment: at each, only the newest pane of every window counts.
            for key, panes_of_window in self._panes_without(
                monitor, configuration, stored, pane
            ).items():
                missing.setdefault(key, set()).update(panes_of_window)
        for key, of_window in missing.items():
            self._apply(key, sorted(of_window), stored, source())

    def stored(self, monitor: Monitor, configuration: str) -> StoredAuxiliary | None:
        """The score, if it has been trained."""
        with self._ledger.database.reading() as connection:
            return stored_auxiliary(connection, monitor.name, configuration)

    def _kept(
        self, monitor: Monitor, configuration: str, found: StoredAuxiliary
    ) -> StoredAuxiliary:
        database = self._ledger.database
        with database.writing() as connection:
            store_auxiliary(connection, database, monitor.name, configuration, found)
            # Another worker may have been first.
            return stored_auxiliary(connection, monitor.name, configuration) or found

    def _panes_without(
        self, monitor: Monitor, configuration: str, stored: StoredAuxiliary, pane: Pane
    ) -> dict[str, list[Pane]]:
        """Panes that the score has not been applied to, among those known at a pane's moment."""
        if pane.as_of < stored.as_of or pane.window.start < stored.last_start:
            return {}
        with self._ledger.database.reading() as connection:
            return panes_without_auxiliary(
                connection,
                monitor.name,
                configuration,
                mature=monitor.pane_schedule.mature,
                since=stored.first_start,
                through=pane.window.start,
                as_of=pane.as_of,
                score_hash=stored.hash,
            )

    def _apply(
        self,
        window_key: str,
        chosen: Sequence[Pane],
        stored: StoredAuxiliary,
        source: PredictionSource,
    ) -> None:
        """Apply the score to the panes of one window, using one sample of rows."""
        request = SampleRequest(
            window=chosen[0].window,
            as_of=tuple(one.as_of for one in chosen),
            rows=_ROWS,
            labels=_ROWS,
        )
        try:
            rows = source.sample(request)
            scores = self._score(stored).of(rows.features, rows.key)
        except InputError as error:
            self._note(window_key, chosen, str(error))
            return
        made = [
            auxiliary_series_of(
                rows,
                scores,
                self._ledger.series(window_key, one.number),
                moment=moment,
                score_hash=stored.hash,
            )
            for moment, one in enumerate(chosen)
        ]
        with self._ledger.database.writing() as connection:
            for one, found in zip(chosen, made, strict=True):
                store_auxiliary_series(connection, window_key, one.number, found)

    def _note(self, window_key: str, chosen: Sequence[Pane], reason: str) -> None:
        with self._ledger.database.writing() as connection:
            for one in chosen:
                series = self._ledger.series(window_key, one.number)
                store_auxiliary_series(
                    connection,
                    window_key,
                    one.number,
                    [
                        AuxiliarySeries(
                            model_version=each.model_version, segment=each.segment, reason=reason
                        )
                        for each in series
                    ],
                )

    def _score(self, stored: StoredAuxiliary) -> AuxiliaryScore:
        if stored.hash not in self._read:
            while len(self._read) >= _KEPT:
                del self._read[next(iter(self._read))]
            self._read[stored.hash] = AuxiliaryScore.from_bytes(stored.score)
        return self._read[stored.hash]

    # -- when it is evaluated -----------------------------------------------------------------

    def of_pane(self, monitor: Monitor, configuration: str, pane: Pane) -> PaneAuxiliary:
        """Auxiliary tables as they were known at a pane's moment."""
        return PaneAuxiliary(
            monitor=monitor, configuration=configuration, pane=pane, ledger=self._ledger
        )


@dataclass(kw_only=True, eq=False)
class PaneAuxiliary:
    """Auxiliary tables of windows as they were known at the moment of one pane.

    If there is a `reason` why this pane has none, the class prior is followed with the deployed
    score for all windows.

    Attributes
    ----------
    monitor : Monitor
    configuration : str
    pane : Pane
    ledger : LedgerReader
    """

    monitor: Monitor
    configuration: str
    pane: Pane
    ledger: LedgerReader

    def __post_init__(self) -> None:
        self._series: dict[tuple[str, int, str, str], AuxiliarySeries] = {}
        self._asked: set[tuple[str, int]] = set()

    @property
    def hash(self) -> str | None:
        """Hash of the score in use; None without one."""
        return None if self.reason is not None or self.stored is None else self.stored.hash

    @cached_property
    def reason(self) -> str | None:
        """Why no auxiliary score is used at this moment; "" if none is configured."""
        if not has_auxiliary(self.monitor):
            return ""
        stored = self.stored
        if stored is None:
            missing = training_of(self.monitor, self.configuration, self.pane, self.ledger)
            return missing if isinstance(missing, str) else _UNTRAINED
        if self.pane.as_of < stored.as_of:
            return f"it is trained on labels that became known by {moment_text(stored.as_of)}"
        if self.pane.window.start < stored.last_start:
            return "the window is one of those it was trained on"
        return None

    @property
    def waits(self) -> bool:
        """Whether the score is to be trained on windows that are not mature yet."""
        return bool(self.reason) and self.reason != _UNTRAINED

    def of_series(self, series: StoredSeries) -> AuxiliarySeries:
        """Auxiliary table of a series in a window, this one or an earlier one.

        Returns
        -------
        AuxiliarySeries
            With a table; without one if there are too few confirmed positives; or with a reason why
            no table is made.
        """
        if self.reason is not None and self.reason != _UNTRAINED:
            return self._without(series, self.reason)
        place = series.window_key, series.number
        if place not in self._asked:
            self._asked.add(place)
            with self.ledger.database.reading() as connection:
                self._series |= stored_auxiliary_series(connection, [place])
        found = self._series.get((*place, series.model_version, series.segment))
        if found is None or (found.reason is None and found.hash != self.hash):
            return self._without(series, self.reason or "the features of its rows were not read")
        return found

    @staticmethod
    def _without(series: StoredSeries, reason: str) -> AuxiliarySeries:
        return AuxiliarySeries(
            model_version=series.model_version, segment=series.segment, reason=reason
        )

    @cached_property
    def stored(self) -> StoredAuxiliary | None:
        """The score, if it has been trained."""
        if not has_auxiliary(self.monitor):
            return None
        with self.ledger.database.reading() as connection:
            return stored_auxiliary(connection, self.monitor.name, self.configuration)
