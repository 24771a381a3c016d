"""Audits before and after a change: which of the two changed."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from pumonitor.audit.carried import MONTH, PastAudit
from pumonitor.audit.compared import Ratio, TwoAudits, audits_around, compare_audits
from pumonitor.audit.estimation import estimate_audit
from tests.audit.made_up_audit import CONFIRMED, FOUND, counts

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
SINCE = FIRST + MONTH


def past(month, **changed):
    given = {"model_version": "1", "fair": "check", "counts": counts(decided=25)} | changed
    return PastAudit(
        name=str(month), start=FIRST + month * MONTH, end=FIRST + (month + 1) * MONTH, **given
    )


def audit(*, found=1.0, confirmed=1.0, decided=40):
    """An audit whose confirmed rows, and positives among its cases, are multiplied."""
    labeled = np.round(CONFIRMED * confirmed).astype(int)
    share = np.minimum(FOUND / 25 * found, 1)
    return counts(found=np.round(share * decided).astype(int), decided=decided, labeled=labeled)


ONE = {"found": 0.5, "confirmed": 1.0}


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        # Confirmed and hidden positives both double: the share confirmed stays.
        ({"found": 1.0, "confirmed": 2.0}, "class_prior"),
        # More confirmed, and fewer left among the others.
        ({"found": 0.3, "confirmed": 2.0}, "label_frequency"),
        ({"found": 0.5, "confirmed": 1.0}, None),
    ],
)
def test_positives_left_among_the_unconfirmed_tell_which_of_the_two_changed(after, changed):
    audits = [past(0, counts=audit(**ONE)), past(1, counts=audit(**after))]
    found = compare_audits(audits_around(audits, since=SINCE))
    assert found.changed == changed
    confirmed = found.class_prior.value * found.label_frequency.value
    counted = [one.counts.labeled.sum() for one in audits]
    assert confirmed == pytest.approx(counted[1] / counted[0])


def test_two_positives_more_among_low_scores_are_taken_for_an_error_of_the_slope():
    """By themselves they stand for many: the ratio is nearer to 1 than that of the estimates."""
    more = FOUND.copy()
    more[[2, 4]] += 1
    audits = [past(0), past(1, counts=counts(found=more))]
    then, now = (
        np.log(estimate_audit(one.counts).metrics()["class_prior"]).mean() for one in audits
    )
    found = compare_audits(audits_around(audits, since=SINCE))
    assert now - then > 0.1
    assert abs(np.log(found.class_prior.value)) < 0.6 * (now - then)


def test_the_change_turned_round_is_the_change_back():
    there = [past(0, counts=audit(**ONE)), past(1, counts=audit(found=1.0, confirmed=2.0))]
    back = [replace(past(at), counts=one.counts) for at, one in enumerate(reversed(there))]
    forth, again = (compare_audits(audits_around(one, since=SINCE)) for one in (there, back))
    assert again.class_prior.value == pytest.approx(1 / forth.class_prior.value, rel=1e-6)
    assert again.class_prior.low == pytest.approx(1 / forth.class_prior.high, rel=1e-6)
    assert again.support["class_prior"] == pytest.approx(forth.support["class_prior"], rel=1e-6)


def test_a_slope_that_both_audits_share_makes_the_ratio_surer():
    audits = [past(0, counts=audit(**ONE)), past(1, counts=audit(found=1.0, confirmed=2.0))]
    shared = compare_audits(audits_around(audits, since=SINCE))
    audits[1] = replace(audits[1], model_version="2")
    apart = compare_audits(audits_around(audits, since=SINCE))
    assert shared.class_prior.high / shared.class_prior.low < (
        apart.class_prior.high / apart.class_prior.low
    )


def test_an_audit_is_before_or_after_by_the_middle_of_its_period():
    audits = [past(0), past(1), past(2)]
    half = FIRST + 1.5 * MONTH
    around = audits_around(audits, since=half)
    assert ([one.name for one in around.before], [one.name for one in around.after]) == (
        ["0"],
        ["1", "2"],
    )
    with pytest.raises(ValueError, match="before the change and one after it"):
        compare_audits(audits_around(audits, since=FIRST))


def test_what_changed_is_named_where_it_is_four_fifths_probable():
    def two(**support):
        whole = dict.fromkeys(("neither", "class_prior", "label_frequency", "both"), 0.0) | support
        same = Ratio(value=1.0, low=0.5, high=2.0)
        return TwoAudits(
            before=past(0), after=past(1), class_prior=same, label_frequency=same, support=whole
        )

    assert two(class_prior=0.6, both=0.25, neither=0.15).changed == "class_prior"
    assert two(label_frequency=0.79, neither=0.21).changed is None
    assert two(class_prior=0.1, label_frequency=0.1, both=0.8).changed == "both"
    assert two(neither=0.8, class_prior=0.2).changed == "neither"


def test_auc_moves_with_the_positives_that_audits_find():
    """Positives found below the threshold instead of above it: the model ranks worse."""
    good = audit(**ONE)
    turned = FOUND[::-1] / 25 * 0.5
    bad = counts(
        found=np.round(turned * 40).astype(int),
        decided=40,
        labeled=np.round(CONFIRMED[::-1]).astype(int),
    )
    worse = compare_audits(
        audits_around([past(0, counts=good), past(1, counts=bad)], since=SINCE)
    ).auc
    assert worse.high < 0
    assert worse.change == pytest.approx(worse.after - worse.before)
    same = compare_audits(
        audits_around([past(0, counts=good), past(1, counts=good)], since=SINCE)
    ).auc
    assert same.low < 0 < same.high
