"""Segments by an audit: the cases that fall into one, with what the others say of confirmations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pumonitor.audit.bins import bins_along
from pumonitor.audit.carried import CarriedAudits, PastAudit
from pumonitor.audit.counts import AuditCounts
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

FEWEST_CASES: Final = 10
"""Verdicts that must fall into a segment: with fewer its estimates would be those of the others."""

_APART: Final = 0.5
"""Standard deviation by which log odds of a confirmation differ between segments."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SegmentPart:
    """An audit, and what of it falls into a segment.

    Attributes
    ----------
    audit : PastAudit
        Of all rows.
    counts : AuditCounts
        Of the rows of the segment, in the bins of the audit that hold one.
    kept : tuple of bool
        By bin of the audit, whether it is among these.
    """

    audit: PastAudit
    counts: AuditCounts
    kept: tuple[bool, ...]

    @property
    def others(self) -> AuditCounts:
        """The rows, confirmations and verdicts of all other segments."""
        whole, at = self.audit.counts, np.array(self.kept)

        def left(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
            found = np.array(getattr(whole, name))
            found[at] = np.maximum(found[at] - getattr(self.counts, name), 0)
            return found

        positive, undecided = left("positive"), left("undecided")
        decided = np.maximum(left("decided"), positive)
        labeled = left("labeled")
        # Cells of the segment's table need not begin where the bins of the audit do.
        rows = np.maximum(left("rows"), labeled + decided + undecided)
        return AuditCounts.of(
            replace(whole.bins, rows=rows, labeled=labeled),
            decided=decided,
            positive=positive,
            undecided=undecided,
        )


def segment_counts(
    audit: PastAudit,
    table: ScoreTable,
    *,
    threshold: float,
    decided: ArrayLike,
    positive: ArrayLike,
    undecided: ArrayLike = 0,
) -> SegmentPart:
    """Lay the rows of a segment on the bins of an audit, beside its verdicts there.

    Parameters
    ----------
    audit : PastAudit
        Of all rows.
    table : ScoreTable
        Of the segment's rows.
    threshold : float
    decided, positive, undecided : array-like of shape (bins,)
        Cases of the segment by bin of the audit.

    Raises
    ------
    InputError
        If rows carry weights or propensities, or fewer than `FEWEST_CASES` cases are decided.
    """
    laid = audit.counts.bins
    bins, kept = bins_along(table, edges=laid.edges, rank=laid.rank, threshold=threshold)
    read = [np.broadcast_to(one, kept.shape)[kept] for one in (decided, positive, undecided)]
    count = int(read[0].sum())
    if count < FEWEST_CASES:
        msg = (
            f"{count} of the cases of audit {audit.name} with a verdict "
            f"{'is' if count == 1 else 'are'} of this segment, and {FEWEST_CASES} must be"
        )
        raise InputError(msg)
    # A bin that begins at the nearest cell may hold a row less than were drawn from it.
    both = np.minimum(read[0], bins.unlabeled)
    found = np.minimum(read[1], both)
    counts = AuditCounts.of(
        bins, decided=both, positive=found, undecided=np.minimum(read[2], bins.unlabeled - both)
    )
    return SegmentPart(audit=audit, counts=counts, kept=tuple(kept.tolist()))


def audits_of_segment(parts: Sequence[SegmentPart]) -> CarriedAudits:
    """Audits of a segment, each read with what the other segments say of the label frequency.

    The label frequency by score of the other segments is believed of this one, but for a difference
    of .5 in log odds, of its level, its slope and its step at the threshold; then its own verdicts
    are read. These are not among the verdicts that the belief is from, so that none counts twice.

    It is wrong where positives of the segment get confirmed much more or less often than those of
    others, and few of the cases are from it.

    Parameters
    ----------
    parts : sequence of SegmentPart
        In the order of time.

    Returns
    -------
    CarriedAudits
        Its audits are those of the segment.
    """
    others, found = CarriedAudits.none(), CarriedAudits.none()
    for part in parts:
        believed = part.audit.nothing_known
        rest = part.others
        if rest.decided.any() and rest.labeled.any():
            others = CarriedAudits.through([replace(part.audit, counts=rest)], after=others)
            believed = others.after[-1].apart(_APART**2)
        found = found.with_audit(replace(part.audit, counts=part.counts), believed=believed)
    return found
