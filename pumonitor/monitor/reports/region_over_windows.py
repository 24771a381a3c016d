"""Check over several windows whether a range of scores has positives only."""

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
    """Warning that a class prior is probably too high, if no range of scores has positives only.

    One window has too few labels: a week with 40 confirmed positives has ten among its highest
    scores. So the counts of the last 25 mature windows are added up.

    Parameters
    ----------
    ledger : LedgerReader
    class_prior : ClassPriorEstimate
        The class prior with which the window was evaluated.
    monitor, configuration : str
    series : (str, str)
        Model version and segment.
    until : datetime
        End of the window.
    as_of : datetime
        Counts are those known at this moment.
    label_purity : float or "auto"
        There is no warning if it is estimated.
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
