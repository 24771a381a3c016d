"""Check over several windows whether any scores are purely positive; one has too few labels."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import add
from typing import Final

from pumonitor.diagnostics.pure_region import no_pure_region
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.results.mature_series import MatureSeries, mature_series
from pumonitor.prior.assumed import LabelPurity
from pumonitor.results import ClassPriorEstimate, Finding

__all__ = ["no_pure_region_in_windows"]

_WINDOWS: Final = 25


def no_pure_region_in_windows(
    ledger: LedgerReader,
    class_prior: ClassPriorEstimate,
    *,
    monitor: str,
    configuration: str,
    series: tuple[str, str],
    until: datetime,
    as_of: datetime,
    label_purity: LabelPurity,
) -> list[Finding]:
    """Warning that an estimated class prior is rather too high, if no scores are purely positive.

    A week of 40 confirmed positives has ten among its highest scores, which prove nothing; the
    weeks before have others. So the counts of the last 25 mature windows are added up.

    Parameters
    ----------
    ledger : LedgerReader
    class_prior : ClassPriorEstimate
        What the window was evaluated with.
    monitor, configuration : str
    series : (str, str)
        Model version and segment.
    until : datetime
        End of the window.
    as_of : datetime
        What was known then counts.
    label_purity : float or "auto"
        Where it is estimated nothing is said.
    """
    if isinstance(label_purity, str):
        return []
    asked = MatureSeries(
        monitor=monitor,
        configuration=configuration,
        segment=series[1],
        since=None,
        until=until,
        as_of=as_of,
        model_version=series[0],
    )
    with ledger.database.reading() as connection:
        stored = mature_series(connection, asked, most=_WINDOWS, which="last")
    tables = [table for table in (one.table() for one in stored) if table is not None]
    if len(tables) < 2 or not sum(table.n_labeled for table in tables):
        return []
    found = no_pure_region(
        reduce(add, tables),
        class_prior,
        {"scenario": "single-training-set", "label_purity": label_purity},
    )
    return [
        replace(one, sentence=f"Over the last {len(tables)} windows: {one.sentence}")
        for one in found
    ]
