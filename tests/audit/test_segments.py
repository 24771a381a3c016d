"""A segment by the cases of an audit that fall into it."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from pumonitor.audit.bins import score_bins
from pumonitor.audit.carried import MONTH, PastAudit
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import FAIR, UNKNOWN
from pumonitor.audit.segments import audits_of_segment, segment_counts
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
THRESHOLD = 1.5


def audited(rows=8000, share=0.25, cases=25, seed=0, fair="check"):
    """An audit of all rows, and what of it falls into a segment with more positives."""
    rng = np.random.default_rng(seed)
    inside = rng.random(rows) < share
    positive = rng.random(rows) < np.where(inside, 0.2, 0.1)
    score = rng.normal(size=rows) + 2 * positive
    confirmed = positive & (rng.random(rows) < 0.3)
    bins = score_bins(
        ScoreTable.from_arrays(confirmed.astype(int), score, thresholds=[THRESHOLD]),
        threshold=THRESHOLD,
    )
    place, decided, found, own = bins.bin_of(score), [], [], []
    for at in range(len(bins.rows)):
        there = np.flatnonzero((place == at) & ~confirmed)
        drawn = rng.choice(there, min(cases, len(there)), replace=False)
        decided.append(len(drawn))
        found.append(positive[drawn].sum())
        own.append((inside[drawn].sum(), (inside & positive)[drawn].sum()))
    audit = PastAudit(
        name="a1",
        model_version="1",
        start=FIRST,
        end=FIRST + MONTH,
        fair=fair,
        counts=AuditCounts.of(bins, decided=decided, positive=found),
    )
    table = ScoreTable.from_arrays(
        confirmed[inside].astype(int), score[inside], thresholds=[THRESHOLD]
    )
    return audit, table, np.array(own).T, positive[inside].mean()


def test_segment_and_others_are_all_rows_and_all_verdicts():
    audit, table, own, _ = audited()
    part = segment_counts(audit, table, threshold=THRESHOLD, decided=own[0], positive=own[1])
    assert part.counts.rows.sum() == table.n_labeled + table.n_unlabeled
    assert part.counts.labeled.sum() == table.n_labeled
    assert part.counts.decided.tolist() == own[0][list(part.kept)].tolist()
    for name in ("rows", "labeled", "decided", "positive"):
        together = getattr(part.others, name).sum() + getattr(part.counts, name).sum()
        assert together == pytest.approx(getattr(audit.counts, name).sum(), rel=0.01), name


def test_a_segment_is_believed_as_the_others_left_it_but_for_a_difference():
    audit, table, own, prior = audited()
    part = segment_counts(audit, table, threshold=THRESHOLD, decided=own[0], positive=own[1])
    carried = audits_of_segment([part])
    others = estimate_audit(part.others).frequency()
    believed = carried.before[0]
    assert believed.mean == pytest.approx(others.mean)
    apart = np.array(believed.covariance) - np.array(others.covariance)
    assert apart == pytest.approx(0.25 * np.eye(3))
    drawn = estimate_audit(part.counts, believed=believed).metrics()["class_prior"]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert low < prior < high
    alone = estimate_audit(part.counts, believed=UNKNOWN).metrics()["class_prior"]
    assert drawn.std() < alone.std()
    assert carried.audits[0].counts is part.counts


def test_labels_assumed_fair_stay_so_in_a_segment():
    audit, table, own, _ = audited(fair="assume")
    part = segment_counts(audit, table, threshold=THRESHOLD, decided=own[0], positive=own[1])
    assert audits_of_segment([part]).before[0].fair
    # Without any other row, nothing is known before its own verdicts.
    whole = replace(part, counts=audit.counts, kept=(True,) * len(audit.counts.rows))
    assert audits_of_segment([whole]).before == (FAIR,)


def test_a_later_audit_of_the_segment_rests_on_what_both_say_of_the_others():
    parts = []
    for month in range(2):
        audit, table, own, _ = audited(seed=month)
        start = FIRST + month * MONTH
        audit = replace(audit, name=str(month), start=start, end=start + MONTH)
        parts.append(
            segment_counts(audit, table, threshold=THRESHOLD, decided=own[0], positive=own[1])
        )
    carried = audits_of_segment(parts)
    alone = audits_of_segment(parts[1:])
    assert carried.before[1].covariance[0][0] < alone.before[0].covariance[0][0]
    assert [one.name for one in carried.audits] == ["0", "1"]


@pytest.mark.parametrize(("decided", "said"), [(9, "9 of the cases"), (0, "0 of the cases")])
def test_a_segment_with_few_verdicts_is_refused(decided, said):
    audit, table, _, _ = audited()
    some = np.zeros(len(audit.counts.rows), int)
    some[0] = decided
    with pytest.raises(InputError, match=f"{said} of audit a1 with a verdict are of this segment"):
        segment_counts(audit, table, threshold=THRESHOLD, decided=some, positive=0)
    some[0] = 10
    segment_counts(audit, table, threshold=THRESHOLD, decided=some, positive=0)
