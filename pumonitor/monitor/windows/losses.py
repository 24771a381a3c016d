"""Hold a later look at a window to what earlier ones counted."""

from __future__ import annotations

from collections.abc import Sequence

from pumonitor.errors import SourceError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.rules.windows.losses import Loss, SeriesCount, find_loss
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.plain_text import series_of
from pumonitor.ports import Pane
from pumonitor.text import moment_text, percent_text


class LostRowsError(SourceError):
    """A later look finds too few of the rows or labels that an earlier one counted.

    Attributes
    ----------
    counts : tuple of SeriesCount
        What it found, to be taken by who accepts it.
    """

    def __init__(self, message: str, counts: Sequence[SeriesCount]) -> None:
        super().__init__(message)
        self.counts = tuple(counts)


def check_losses(
    monitor: Monitor,
    claim: Claim,
    known: Sequence[SeriesCount],
    tables: Sequence[SeriesTable],
    panes: Sequence[Pane],
) -> None:
    """Refuse a look that lost more than is tolerated.

    Parameters
    ----------
    monitor : Monitor
    claim : Claim
    known : sequence of SeriesCount
        What earlier looks counted.
    tables : sequence of SeriesTable
        What the look finds, at the moments of `panes`.
    panes : sequence of Pane

    Raises
    ------
    LostRowsError
        If so.
    """
    tolerated = monitor.tolerated_losses
    found = {
        (one.pane, one.model_version, one.segment): (one.predictions, one.labeled + one.negative)
        for one in tables
    }
    # A look without any row has no series.
    found.setdefault((panes[-1].number, "", ""), (0, 0))
    loss = find_loss(known, found, rows=tolerated.rows, labels=tolerated.labels)
    if loss is None:
        return
    moments = {pane.number: pane.as_of for pane in panes}
    raise LostRowsError(
        _message(monitor, claim, loss),
        [
            SeriesCount(
                number=number,
                as_of=moments[number],
                model_version=version,
                segment=segment,
                rows=rows,
                labels=labels,
            )
            for (number, version, segment), (rows, labels) in found.items()
        ],
    )


def _message(monitor: Monitor, claim: Claim, loss: Loss) -> str:
    allowed = getattr(monitor.tolerated_losses, loss.what)
    what = "predictions" if loss.what == "rows" else "labels"
    # Labels are gone with their predictions, too.
    source = monitor.predictions.source.name
    if loss.what == "labels":
        queues = [queue.source.name for queue in monitor.reviews]
        source = " or ".join([monitor.positives.source.name, *queues, source])
    series = series_of(loss.model_version or "", loss.segment or "", between=", ")
    where = f" of {series}" if series else ""
    remedy = (
        "; a label that changes needs a further row, as one that is overwritten is gone"
        if loss.what == "labels" and loss.found
        else ""
    )
    return (
        f"rows are gone from {source}: of {loss.known:,} {what}{where} that were known as of "
        f"{moment_text(loss.as_of)}, {loss.found:,} are found now "
        f"({percent_text(1 - loss.found / loss.known)} lost, {percent_text(allowed)} "
        f"tolerated{remedy}). The earlier results stay, no alert changes, and the window is looked "
        "at again until the rows are back. If they were deleted on purpose: pumonitor accept "
        f"{monitor.name} {claim.window.start:%Y-%m-%dT%H:%MZ} --reason TEXT takes what is left; "
        "source_keeps says how long the tables keep rows, so that nothing is looked at later"
    )
