"""The mature windows that a decision can stand on, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation

MOST_TRIED: Final = 12
"""How many windows without estimates are passed over before the page gives up."""

_READ: Final = 400


def mature_evaluations(
    ledger: Ledger, monitor: str, at: DecideAddress
) -> Iterator[StoredEvaluation]:
    """The newest mature windows of a series, the newest first, 12 at the most.

    Without a model version in the address they are of the one with most rows in the newest. They
    are to be used one by one: the labels of several windows together are a fair sample of their
    positives only if each window has the same share of its positives confirmed, which is not known.

    Parameters
    ----------
    ledger : Ledger
    monitor : str
    at : DecideAddress
        Which version and segment, and before when the windows start.
    """
    columns = ledger.series_of(
        ["predictions"],
        monitors=[monitor],
        until=at.until,
        model_version=at.model_version,
        segment=at.segment,
        limit=_READ,
    )
    mature = [
        (columns.window_start[place], columns.value[place] or 0.0, columns.model_version[place])
        for place in range(len(columns.window_start))
        if columns.state[place] != "provisional" and (columns.value[place] or 0.0) > 0
    ]
    if not mature:
        return
    newest = max(start for start, _, _ in mature)
    _, version = max((rows, version) for start, rows, version in mature if start == newest)
    starts = sorted({start for start, _, one in mature if one == version}, reverse=True)
    for start in starts[:MOST_TRIED]:
        found = ledger.evaluation(monitor, start=start, model_version=version, segment=at.segment)
        if found is not None:
            yield found
