"""Causes with audits: they tell the class prior from how often positives get confirmed."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from benchmarks.detection.incidents import EDGES, World, window
from pumonitor.audit.carried import MONTH, PastAudit
from pumonitor.audit.compared import Moved, Ratio, TwoAudits
from pumonitor.monitor.rules.causes.by_audits import ToldByAudits, in_words, told_by_audits
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.next_steps import next_steps
from pumonitor.monitor.rules.causes.period import Period
from tests.audit.made_up_audit import counts
from tests.monitor.rules.causes.test_followed_causes import MIDDLES

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE = World(rows=4000, class_prior=0.08, confirmed=0.2)


def past(month):
    start, end = FIRST + month * MONTH, FIRST + (month + 1) * MONTH
    return PastAudit(
        name=f"a{month}", model_version="1", start=start, end=end, fair="check", counts=counts()
    )


def told(changed, *, prior=1.0, frequency=1.0, auc=None):
    """Two audits that are sure of one answer; of none where `changed` is None."""
    ratios = [Ratio(value=one, low=one / 1.3, high=one * 1.3) for one in (prior, frequency)]
    support = dict.fromkeys(("neither", "class_prior", "label_frequency", "both"), 0.0)
    compared = TwoAudits(
        before=past(0),
        after=past(2),
        class_prior=ratios[0],
        label_frequency=ratios[1],
        support=support | ({} if changed is None else {changed: 1.0}),
        auc=auc,
    )
    return ToldByAudits(compared=compared, sentence="The audits have told.")


FELL = Moved(before=0.95, after=0.71, change=-0.24, low=-0.35, high=-0.13)
STAYED = Moved(before=0.95, after=0.94, change=-0.01, low=-0.03, high=0.01)
OPEN = Moved(before=0.95, after=0.9, change=-0.05, low=-0.15, high=0.05)


def period(world, *, windows, seed):
    rng = np.random.default_rng(seed)
    return Period.counted([(MIDDLES, *window(world, rng)[:2]) for _ in range(windows)], edges=EDGES)


def cause(world, audited):
    before, now = period(BEFORE, windows=30, seed=1), period(world, windows=6, seed=2)
    return name_cause(before, now, class_prior=0.08, audited=audited)


MORE = replace(BEFORE, class_prior=0.12)
OFTENER = replace(BEFORE, confirmed=0.3)


def test_audits_overrule_what_the_counts_look_like():
    by_counts = cause(MORE, None)
    assert "class_prior" in by_counts.kinds
    found = cause(MORE, told("label_frequency", frequency=1.5))
    assert found.kinds == ("confirmed_share",)
    assert found.sentence.startswith("The audits have told.")
    assert "more positives" not in found.sentence
    assert found.sizes["confirmed_share"].change == pytest.approx(1.5)
    assert found.sizes["positives"].change == pytest.approx(1.0)
    assert sum(found.support.values()) == pytest.approx(1.0)


def test_where_audits_name_the_class_prior_the_ranking_is_told_at_it():
    found = cause(OFTENER, told("class_prior", prior=1.5))
    assert found.kinds[0] == "class_prior"
    assert "confirmed_share" not in found.kinds
    assert found.sizes["auc_at_new_prior"].now <= 1
    assert "ranks" in found.sentence
    assert found.to_dict()["by_audits"]["class_prior"]["value"] == 1.5


def test_two_changes_are_both_named():
    found = cause(MORE, told("both", prior=1.5, frequency=0.7))
    assert set(found.kinds) >= {"class_prior", "confirmed_share"}


def test_neither_leaves_what_audits_say_nothing_about():
    lower = replace(BEFORE, separation=1.0)
    found = cause(lower, told("neither"))
    assert found.kinds == ("ranking",)
    assert found.sentence.startswith("The audits have told. The model ranks worse")


def test_without_an_audit_since_the_change_the_next_one_is_pointed_to():
    audited = told_by_audits([past(0)], since=FIRST + MONTH)
    found = cause(MORE, audited)
    assert found.kinds == cause(MORE, None).kinds
    assert found.sentence.endswith(
        "cannot be told yet: the last audit, a0 (2026-01-01 to 2026-01-31), is of the time before "
        "the change. The next audit tells."
    )
    assert found.to_dict()["by_audits"] == {"sentence": audited.sentence}
    first = told_by_audits([past(3)], since=FIRST)
    assert "the first one, a3" in first.sentence
    assert told_by_audits([], since=FIRST) is None


def test_a_worse_ranking_alone_leaves_no_question_to_audits():
    lower = replace(BEFORE, separation=1.0)
    audited = told_by_audits([past(0)], since=FIRST + MONTH)
    found = cause(lower, audited)
    assert found.kinds == ("ranking",)
    assert "audit" not in found.sentence


def test_the_sentence_has_both_audits_and_both_ratios():
    found = told_by_audits([past(0), past(2)], since=FIRST + MONTH)
    assert found.kinds is None
    assert found.sentence.startswith(
        "By the audits a0 (2026-01-01 to 2026-01-31) and a2 (2026-03-02 to 2026-04-02) it cannot "
        "be told yet whether the class prior changed or how often positives get confirmed: there "
        "are 1.00 times ("
    )


def lower_confirmed(audited):
    """Confirmed positives score lower, all rows as before: nobody can tell from counts why."""
    rng = np.random.default_rng(3)

    def counted(separation):
        rows = window(BEFORE, rng)
        lower = window(replace(BEFORE, separation=separation), rng)
        return MIDDLES, lower[0], rows[1]

    before = Period.counted([counted(BEFORE.separation) for _ in range(30)], edges=EDGES)
    now = Period.counted([counted(0.8) for _ in range(4)], edges=EDGES)
    return name_cause(before, now, class_prior=0.08, audited=audited)


def test_a_ranking_that_fell_by_the_audits_is_the_cause():
    assert lower_confirmed(None).kinds == ()
    found = lower_confirmed(told(None, auc=FELL))
    assert found.kinds == ("ranking",)
    assert found.sentence.startswith("The audits have told.")
    assert "other positives" not in found.sentence
    assert found.support["ranking"] == pytest.approx(1.0)
    stored = found.to_dict()
    assert stored["by_audits"]["auc"]["after"] == 0.71
    steps = next_steps("recall", stored)
    assert any("Retrain" in one.action for one in steps)
    assert not any("audit decide" in one.action for one in steps)


def test_a_ranking_that_stayed_by_the_audits_leaves_confirmations():
    found = lower_confirmed(told(None, auc=STAYED))
    assert found.kinds == ("labeling",)
    assert found.sentence.startswith("Other positives get confirmed than before: they score lower")
    assert not any("audit" in one.action for one in next_steps("f1", found.to_dict()))


def test_two_audits_are_told_of_although_they_leave_the_question_open():
    found = lower_confirmed(told(None, auc=OPEN))
    assert found.kinds == ()
    assert set(found.possible) == {"ranking", "labeling"}
    assert found.sentence.endswith("The audits have told.")
    assert any("audit decide" in one.action for one in next_steps("f1", found.to_dict()))
    before = lower_confirmed(told_by_audits([past(0)], since=FIRST + MONTH))
    assert "The next audit tells." in before.sentence


@pytest.mark.parametrize(
    ("audited", "kinds"),
    [
        (told(None, auc=FELL), ["ranking"]),
        (told(None, auc=STAYED), ["labeling"]),
        (told("class_prior", prior=1.5, auc=FELL), ["class_prior", "ranking"]),
        (told(None, auc=OPEN), []),
    ],
)
def test_a_stored_cause_is_read_anew_as_if_the_audits_had_been_there(audited, kinds):
    stored = lower_confirmed(None).to_dict()
    assert stored["kinds"] == []
    anew = audited.read_anew(stored)
    assert anew["kinds"] == kinds
    assert "The audits have told." in anew["sentence"]
    assert stored["known"] in anew["sentence"]
    assert ("It may be" in anew["sentence"]) == (kinds == [])
    assert anew["by_audits"] == audited.to_dict()


def test_a_changed_ranking_goes_first_in_the_sentence():
    world, fell, stayed = (
        in_words(replace(told("class_prior", prior=1.5).compared, auc=auc))
        for auc in (None, FELL, STAYED)
    )
    assert "ranks" not in world
    assert "(2026-03-02 to 2026-04-02) the model ranks worse: AUC 0.950 before, 0.710" in fell
    assert "By them the class prior changed" in fell
    assert "By them the model ranks as before: AUC 0.950 before, 0.940 after" in stayed
    assert stayed.index("class prior") < stayed.index("ranks")


def test_audits_that_are_read_later_decide_the_next_steps():
    stored = lower_confirmed(None).to_dict()

    def last_step(auc):
        return next_steps("f1", told(None, auc=auc).read_anew(stored))[-1].action

    assert last_step(FELL) == "Do not move the threshold for it."
    rose = replace(FELL, after=0.99, change=0.04, low=0.02, high=0.06)
    assert last_step(rose) == "Move the reference to after the change if it lasts."
    assert last_step(STAYED) == "Leave the model and the threshold as they are."
