"""Notes on predictions and confirmations as a whole, before a configuration is written."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.table_samples import ColumnSample, Extent, TableSample
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER, shown_moment
from pumonitor.text import percent_text

_MANY_REPEATED: Final = 0.1


def refuse_future(
    extent: Extent,
    predictions: TableSample,
    time: ColumnSample,
    positives: TableSample,
    known_at: ColumnSample | None,
    *,
    now: datetime,
) -> None:
    """Raise an error for times more than a day ahead of now.

    Raises
    ------
    InputError
        With the last of them.
    """
    ends = [("time", time.name, predictions, extent.last)]
    if known_at is not None:
        ends.append(("known_at", known_at.name, positives, extent.last_known))
    for role, column, table, last in ends:
        if last > (now + CLOCKS_DIFFER).timestamp():
            msg = (
                f"{role} column {column!r} of {table.name} has times more than a day in the "
                f"future, the last of them {shown_moment(round(last * 1e6))}: check the clock that "
                "writes it, its zone (--zone) and its unit"
            )
            raise InputError(msg)


def extent_notes(extent: Extent, predictions: TableSample, positives: TableSample) -> list[str]:
    """Notes on problems in both tables, such as lost confirmations and repeated ids.

    Raises
    ------
    InputError
        If no confirmation is about a prediction.
    """
    if extent.matched == 0:
        msg = (
            f"none of the {extent.confirmations} confirmed positives of {positives.name} "
            f"matches a prediction of {predictions.name}: check --id and --positives-id"
        )
        raise InputError(msg)
    notes = _score_notes(extent, predictions)
    lost = extent.confirmations - extent.matched
    if lost > 0:
        notes.append(f"{lost} of {extent.confirmations} confirmations match no prediction.")
    if not extent.delays:
        notes.append(
            "No prediction of the earlier half is confirmed: the proposed maturity is a guess."
        )
    if extent.refused:
        notes.append(
            f"{extent.refused:,} of {extent.matched:,} confirmations were known more than a day "
            "before their prediction and are not counted: check the times and zones, and that each "
            "id belongs to one prediction."
        )
    elif extent.delays.get(0.5, 0.0) < 0:
        notes.append(
            "Most confirmations are older than their predictions, by a day at most: check the "
            "times and zones."
        )
    if extent.repeated > _MANY_REPEATED:
        notes.append(
            f"About {percent_text(extent.repeated)} of the predictions repeat an id: in each "
            "window only the first of them counts. Check whether rows were written twice."
        )
    return notes


def _score_notes(extent: Extent, predictions: TableSample) -> list[str]:
    counts = {
        "no score": extent.missing_scores,
        "a score that is infinite or NaN": extent.infinite_scores,
    }
    found = [f"{count:,} have {what}" for what, count in counts.items() if count]
    if not found:
        return []
    rows = extent.predictions + extent.missing_scores + extent.infinite_scores
    return [
        f"Of {rows:,} rows of {predictions.name} {' and '.join(found)}: they are left out here, "
        "but pumonitor check and pumonitor run refuse them. Drop these rows, or repair the job "
        "that scores them."
    ]
