"""What windows say about rules of every kind, and when a rule is folded again."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from pumonitor.monitor.rules.alerts.false_discovery import (
    e_benjamini_hochberg,
    one_sided_p_value,
    rejected,
)
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Change,
    Health,
    KnownReference,
    Missing,
    Reading,
    Shift,
    WindowView,
)
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.ports import Window

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = ("7", "")


def reading(value, half=0.02, n=50):
    if value is None:
        return Reading(value=None, reason="no positives")
    return Reading(value=value, low=value - half, high=value + half, se=half / 1.96, n_labeled=n)


def view(number, readings=None, **more):
    start = START + number * DAY
    return WindowView(
        window=Window(start=start, end=start + DAY, index=number),
        pane=more.pop("pane", 1),
        as_of=more.pop("as_of", start + 3 * DAY),
        readings={} if readings is None else readings,
        **more,
    )


def of_metric(*values, metric="auc", series=ALL, half=0.02):
    return [
        view(number, {series: {metric: reading(value, half)}})
        for number, value in enumerate(values)
    ]


def rule(condition, **more):
    return AlertRule(**{"key": "k", "name": "r", "metric": "auc", **more}, condition=condition)


def folded(one, views, known_reference=None):
    fold = RuleFold(one, known_reference=known_reference)
    fold.refold(views, 0)
    return fold


def kinds(one, views, series=ALL, known_reference=None):
    found = folded(one, views, known_reference).evidence
    return [each[series].kind for each in found if series in each]


BELOW = Limit(side="below", limit=0.75)


@pytest.mark.parametrize(
    ("side", "value", "interval", "estimate"),
    [
        ("below", 0.729, "breach", "breach"),
        ("below", 0.7301, "insufficient", "insufficient"),
        ("below", 0.751, "insufficient", "good"),
        ("below", 0.7701, "good", "good"),
        ("above", 0.771, "breach", "breach"),
        ("above", 0.7699, "insufficient", "insufficient"),
        ("above", 0.749, "insufficient", "good"),
        ("above", 0.7299, "good", "good"),
    ],
)
def test_a_limit_is_judged_by_the_whole_interval(side, value, interval, estimate):
    condition = Limit(side=side, limit=0.75)
    assert kinds(rule(condition), of_metric(value)) == [interval]
    assert kinds(rule(condition, resolve_on="estimate"), of_metric(value)) == [estimate]


def test_ends_on_the_limit_are_on_its_good_side():
    exact = of_metric(0.75, half=0.0)
    assert kinds(rule(Limit(side="below", limit=0.75)), exact) == ["good"]
    assert kinds(rule(Limit(side="above", limit=0.75)), exact) == ["good"]


def test_no_data_no_value_and_errors_are_distinguished():
    views = [
        *of_metric(0.9),
        view(1),
        view(2, {ALL: {"auc": reading(None)}}),
        view(3, failed=True),
    ]
    found = folded(rule(BELOW), views).evidence
    assert [one[ALL].kind for one in found] == ["good", "no_data", "insufficient", "error"]
    assert found[2][ALL].reason == "AUC is undefined: no positives"
    assert found[2][ALL].value is None


def test_a_series_begins_with_its_first_window_and_segments_are_apart():
    views = [
        view(0, {ALL: {"auc": reading(0.9)}}),
        view(1, {("8", ""): {"auc": reading(0.5)}, ("8", "country=DE"): {"auc": reading(0.5)}}),
    ]
    found = folded(rule(BELOW), views)
    assert [sorted(one) for one in found.evidence] == [[ALL], [ALL, ("8", "")]]
    assert found.states[1]["8", ""].is_firing
    germans = folded(rule(BELOW, segment="country=DE"), views)
    assert [sorted(one) for one in germans.evidence] == [[], [("8", "country=DE")]]


# -- changes --------------------------------------------------------------------------------------


def reference(value, half=0.01, *, spread=(-0.02, -0.01, 0.0, 0.01, 0.02)):
    """Five windows whose values have a variance of .00025, of which .00005 is by sampling."""
    windows = [
        {
            "auc": Uncertain(
                value=value + off, low=0.0, high=1.0, se=math.sqrt(0.00005) * half / 0.01
            )
        }
        for off in spread
    ]
    found = ReferenceWindows(windows=windows)
    return KnownReference(as_of=START + 4 * DAY, end=START, windows=lambda series: found)


# A window is .02 about its value, moved out from 1.96 to Student's 2.776; windows differ by
# sqrt(.0002), and their mean is known to sqrt(.00025 / 5).
T = 2.7764
OWN, OTHERS, MEAN = 0.02 * T / 1.96, T * math.sqrt(0.0002 + 0.00005), T * math.sqrt(0.00005)
HALF = math.hypot(OWN, OTHERS) + 0.001
SURE = math.hypot(0.02, MEAN) + 0.001
OF_90_PERCENT = math.hypot(OWN, 0.9 * OTHERS) + 0.001
DROP, RISE, CHANGE = (
    Change(direction=direction, amount=0.05, relative=False)
    for direction in ("drop", "rise", "change")
)
TENTH = Change(direction="drop", amount=0.1, relative=True)


@pytest.mark.parametrize(
    ("condition", "value", "kind"),
    [
        (DROP, 0.80 - 0.05 - HALF, "breach"),
        (DROP, 0.80 - 0.05 - HALF + 0.002, "insufficient"),
        # That windows differ by themselves is no reason to go on firing.
        (DROP, 0.80 - 0.05 + SURE, "good"),
        (DROP, 0.80 - 0.05 + SURE - 0.002, "insufficient"),
        (DROP, 0.99, "good"),
        (RISE, 0.80 + 0.05 + HALF, "breach"),
        (RISE, 0.5, "good"),
        (CHANGE, 0.80 + 0.05 + HALF, "breach"),
        (CHANGE, 0.80 - 0.05 - HALF, "breach"),
        (CHANGE, 0.80, "good"),
        # 90% of .80 is .72, with 90% of what windows differ by.
        (TENTH, 0.72 - OF_90_PERCENT, "breach"),
        (TENTH, 0.72 - OF_90_PERCENT + 0.002, "insufficient"),
    ],
)
def test_a_change_counts_what_is_not_known_of_both_and_what_windows_differ_by(
    condition, value, kind
):
    (one,) = of_metric(value)
    late = view(0, one.readings, as_of=START + 4 * DAY)
    assert kinds(rule(condition), [late], known_reference=reference(0.80)) == [kind]


def test_a_negative_number_drops_downwards():
    condition = Change(direction="drop", amount=0.5, relative=True)
    for value, kind in ((-0.19, "breach"), (-0.05, "good")):
        (one,) = of_metric(value, half=0.001)
        late = view(0, one.readings, as_of=START + 4 * DAY)
        known_reference = reference(-0.1, half=0.001, spread=(-0.001, 0.0, 0.001))
        assert kinds(rule(condition), [late], known_reference=known_reference) == [kind]


def test_before_the_reference_is_mature_nothing_is_said():
    condition = Change(direction="drop", amount=0.05, relative=False)
    found = folded(rule(condition), of_metric(0.1), reference(0.8)).evidence
    assert (found[0][ALL].kind, found[0][ALL].reason) == (
        "insufficient",
        "the reference is not mature yet",
    )


def test_windows_before_are_those_that_ended_before_and_are_not_too_old():
    condition = Change(direction="drop", amount=0.05, relative=False, over=4 * DAY)
    found = folded(rule(condition), of_metric(0.2, 0.9, 0.9, 0.9, 0.9, 0.7)).evidence
    # Of the last, days 1 to 4; of the fourth, the first three days, whose mean is far from known.
    assert [one[ALL].kind for one in found[:3]] == ["insufficient"] * 3
    assert found[5][ALL].kind == "breach"
    assert found[5][ALL].reference == pytest.approx(0.9)
    assert found[4][ALL].reference == pytest.approx((0.2 + 3 * 0.9) / 4, abs=1e-3)


def at_a_given_prior(number, aul):
    """AUC as it is with a class prior of .05 to .16, most of whose interval is the prior's."""
    prior = Reading(value=0.1, low=0.05, high=0.16)
    auc, low, high = ((aul - p / 2) / (1 - p) for p in (0.1, 0.05, 0.16))
    half = math.hypot(max(abs(low - auc), abs(high - auc)), 0.01)
    readings = {"auc": reading(auc, half), "aul": reading(aul, 0.01), "class_prior": prior}
    return view(number, {ALL: readings}, as_of=START + 60 * DAY)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("over", [None, 28 * DAY])
def test_a_given_prior_that_is_wrong_is_as_wrong_before_as_now(over, relative):
    """AUL falls by .05 and AUC by .056, where .02 is allowed; the prior is worth .04 either way."""
    condition = Change(direction="drop", amount=0.02, relative=relative, over=over)
    views = [at_a_given_prior(n, 0.86) for n in range(20)]
    views += [at_a_given_prior(20, 0.81), at_a_given_prior(21, 0.86)]
    readings = views[0].readings[ALL]
    known = {
        name: Uncertain(value=one.value, low=one.low, high=one.high, se=(one.high - one.low) / 3.92)
        for name, one in readings.items()
    }
    quiet = ReferenceWindows(windows=[known] * 10)
    known_reference = KnownReference(as_of=START, end=START, windows=lambda series: quiet)
    one = rule(condition)
    assert one.metrics == ("auc", "class_prior", "aul", "class_prior_factor")
    assert kinds(one, views, known_reference=known_reference)[-2:] == ["breach", "good"]
    # With two priors, each window's own, nothing is known of what they have in common.
    apart = [
        view(n, {ALL: {
            **at.readings[ALL], "class_prior": Reading(value=0.1 + n / 1e6, low=0.05, high=0.16),
        }}, as_of=at.as_of)
        for n, at in enumerate(views)
    ]  # fmt: skip
    if over is None:
        assert kinds(one, apart, known_reference=known_reference)[-2] == "insufficient"


# -- segments -------------------------------------------------------------------------------------


def test_the_step_up_procedure_is_the_one_of_its_definition():
    rng = np.random.default_rng(5)
    for _ in range(200):
        p = np.round(rng.uniform(0, 1, rng.integers(1, 9)) ** 3, 3)
        ordered = np.sort(p)
        below = [k for k in range(1, len(p) + 1) if ordered[k - 1] <= 0.2 * k / len(p)]
        chosen = {at for at in range(len(p)) if below and p[at] <= ordered[max(below) - 1]}
        assert rejected(dict(enumerate(p)), rate=0.2) == chosen
    assert rejected({}, rate=0.2) == frozenset()
    with pytest.raises(ValueError, match="rate must satisfy 0 < rate < 1, got 1"):
        rejected({"a": 0.1}, rate=1)
    with pytest.raises(ValueError, match="p-values must be within"):
        rejected({"a": 1.1}, rate=0.1)


def test_e_values_are_rejected_together():
    assert e_benjamini_hochberg({"a": 20.0, "b": 20.0}, rate=0.05) == {"a", "b"}
    assert e_benjamini_hochberg({"a": 39.0, "b": 1.0}, rate=0.05) == frozenset()
    assert e_benjamini_hochberg({"a": 41.0, "b": 1.0}, rate=0.05) == {"a"}


def test_p_values_come_from_the_end_next_to_the_limit():
    assert one_sided_p_value(0.7, near_end=0.7, limit=0.8, reach=1.96) == 0.0
    assert one_sided_p_value(0.9, near_end=0.8, limit=0.8, reach=1.96) == pytest.approx(
        0.025, abs=1e-4
    )


def segments(**values):
    return [view(0, {("7", f"country={name}"): {"auc": reading(v)} for name, v in values.items()})]


def test_among_many_segments_one_that_is_barely_bad_may_be_chance():
    one = rule(BELOW, per="country")
    barely = 0.7299
    alone = kinds(one, segments(DE=barely), ("7", "country=DE"))
    others = {f"X{n}": 0.9 for n in range(5)}
    among = kinds(one, segments(DE=barely, **others), ("7", "country=DE"))
    clear = kinds(one, segments(DE=0.6, **others), ("7", "country=DE"))
    together = kinds(one, segments(**dict.fromkeys(others, barely)), ("7", "country=X0"))
    assert (alone, among, clear, together) == (
        ["breach"], ["insufficient"], ["breach"], ["breach"],
    )  # fmt: skip
    assert kinds(one, segments(DE=0.9, **others), ("7", "country=DE")) == ["good"]
    (found,) = folded(one, segments(DE=barely, **others)).evidence
    assert found["7", "country=DE"].reason == (
        "AUC is 0.73 (0.71 to 0.75), all of it below 0.75, which among 6 segments may be chance"
    )


@pytest.mark.parametrize(
    ("low", "high", "kind"), [(0.35, 0.61, "breach"), (0.59, 0.68, "insufficient")]
)
def test_how_surely_a_segment_has_dropped_is_told_by_the_end_towards_the_limit(low, high, kind):
    """Towards worse the interval may be as wide as it likes."""
    series = [("7", f"country=X{n}") for n in range(30)]
    readings = {one: {"auc": reading(0.8, half=0.001)} for one in series}
    readings[series[0]] = {"auc": Reading(value=0.6, low=low, high=high, se=0.02, n_labeled=50)}
    one = rule(DROP, per="country")
    late = view(0, readings, as_of=START + 4 * DAY)
    quiet = reference(0.8, half=0.001, spread=(-0.001, -0.0005, 0.0, 0.0005, 0.001))
    assert kinds(one, [late], series[0], known_reference=quiet) == [kind]


# -- shifts ---------------------------------------------------------------------------------------


def shift(**more):
    return Shift(
        **{
            "direction": "down",
            "false_alarms_per_year": 1,
            "windows_per_year": 365,
            "detector": "shiryaev-roberts",
            "reference_windows": 20,
            **more,
        }
    )


def series_with_a_drop(seed, *, at=40, by=0.05, length=60, sd=0.01):
    rng = np.random.default_rng(seed)
    return [0.8 + sd * rng.normal() - (by if n >= at else 0.0) for n in range(length)]


def test_a_lasting_drop_is_seen_soon_and_named():
    found = folded(rule(shift()), of_metric(*series_with_a_drop(6)))
    seen = [n for n, one in enumerate(found.evidence) if one[ALL].kind == "breach"]
    assert 40 <= seen[0] <= 44
    assert [one[ALL].kind for one in found.evidence[:20]] == ["insufficient"] * 20
    assert "it has fallen by 0.0" in found.evidence[seen[0]][ALL].reason
    assert "since about 2026-02-" in found.evidence[seen[0]][ALL].reason


def test_half_of_the_positives_gone_is_seen_where_days_are_like_those_before():
    """40 confirmed a day, times a level that wanders by 30%."""
    seen = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        course = np.zeros(100)
        for day in range(1, 100):
            course[day] = 0.9 * course[day - 1] + 0.13 * rng.normal()
        level = 40 * np.exp(course + 0.1 * rng.normal(size=100))
        level[70:] /= 2
        numbers = map(float, rng.poisson(level))
        views = of_metric(*numbers, metric="labeled_positives", half=0.0)
        found = folded(rule(shift(), metric="labeled_positives"), views).evidence
        seen += "breach" in [one[ALL].kind for one in found[70:]]
    assert seen >= 20


@pytest.mark.parametrize("changed", [3, 25, 58, 59])
def test_a_fold_from_the_middle_is_the_fold_from_the_beginning(changed):
    for one in (
        rule(shift()),
        rule(Change(direction="drop", amount=0.02, relative=False, over=9 * DAY)),
    ):
        values = series_with_a_drop(2)
        fold = folded(one, of_metric(*values))
        values[changed] -= 0.04
        views = of_metric(*values)
        fold.refold(views, changed)
        anew = folded(one, views)
        assert fold.evidence == anew.evidence
        assert fold.states == anew.states
        # And once more, before what was folded last.
        values[changed // 2] += 0.03
        views = of_metric(*values)
        fold.refold(views, changed // 2)
        assert fold.evidence == folded(one, views).evidence


def test_a_window_inserted_later_counts_where_it_belongs():
    values = series_with_a_drop(3)
    views = of_metric(*values)
    fold = folded(rule(shift()), [*views[:10], *views[11:]])
    fold.refold(views, 10)
    assert fold.evidence == folded(rule(shift()), views).evidence


def test_windows_before_the_reference_teach_nothing():
    values = [0.2] * 10 + series_with_a_drop(4)
    begins = shift(begins=START + 10 * DAY)
    late = folded(rule(begins), of_metric(*values)).evidence
    own = [view(n + 10, v.readings) for n, v in enumerate(of_metric(*values[10:]))]
    assert [one[ALL].kind for one in late[10:]] == [
        one[ALL].kind for one in folded(rule(shift()), own).evidence
    ]


def test_segments_that_fall_together_alarm_sooner_than_one_among_many():
    def first_alarm(falling, seed):
        rng = np.random.default_rng(seed)
        names = [("7", f"country={n}") for n in range(8)]
        views = []
        for number in range(70):
            values = {
                name: {
                    "auc": reading(
                        0.8 + 0.01 * rng.normal() - (0.012 if k < falling and number >= 40 else 0)
                    )
                }
                for k, name in enumerate(names)
            }
            views.append(view(number, values))
        found = folded(rule(shift(), per="country"), views).evidence
        return next((n for n in range(40, 70) if found[n][names[0]].kind == "breach"), 99)

    together, alone = (
        sum(first_alarm(falling, seed) for seed in range(8, 12)) for falling in (8, 1)
    )
    assert together <= alone - 4


def test_a_segment_near_its_alarm_is_not_good_where_alarms_may_be_joint():
    """With seven others a part of its limit may be enough."""
    rng = np.random.default_rng(3)
    names = [("7", f"country={n}") for n in range(8)]
    views = []
    for number in range(60):
        falls = 0.012 if number >= 40 else 0.0
        drawn = 0.8 + 0.01 * rng.normal(size=8) - falls * (np.arange(8) == 0)
        views.append(
            view(number, {one: {"auc": reading(v)} for one, v in zip(names, drawn, strict=True)})
        )
    found = kinds(rule(shift(), per="country"), views, names[0])
    assert set(found[20:40]) == {"good"}
    assert found[40:] == sorted(found[40:], key=["good", "insufficient", "breach"].index)
    assert found.count("insufficient") > 20, "those being learned from, and some before the alarm"


def test_bets_are_on_bounded_placements():
    values = series_with_a_drop(5, at=30, by=0.3)
    views = [
        view(n, {ALL: {
            "auc": reading(v), "aul": reading(0.05 + 0.9 * v), "class_prior": reading(0.1),
        }})
        for n, v in enumerate(values)
    ]  # fmt: skip
    found = folded(rule(shift(detector="betting")), views).evidence
    assert found[-1][ALL].kind == "breach"
    assert {one[ALL].kind for one in found[:20]} == {"insufficient"}
    assert rule(shift(detector="betting")).metrics == ("auc", "aul", "class_prior")


def test_estimates_beyond_what_placements_can_be_are_held_inside():
    """With impure labels recall and AUL may be beyond 1: no reason to give the rule up."""
    values = [0.97 + 0.05 * (n % 2) for n in range(40)] + [0.4] * 12
    views = [view(n, {ALL: {"recall": reading(v)}}) for n, v in enumerate(values)]
    found = folded(rule(shift(detector="betting"), metric="recall"), views).evidence
    assert found[-1][ALL].kind == "breach"
    assert {one[ALL].kind for one in found[20:40]} == {"good"}


def test_bets_on_auc_need_a_class_prior_below_one():
    readings = {"auc": reading(0.8), "aul": reading(0.8), "class_prior": reading(1.0)}
    (found,) = folded(rule(shift(detector="betting")), [view(0, {ALL: readings})]).evidence
    assert found[ALL].kind == "insufficient"
    assert "class prior below 1" in found[ALL].reason


# -- staleness and health -------------------------------------------------------------------------


def test_windows_without_a_usable_value_are_stale_unless_another_version_took_over():
    views = [
        *of_metric(0.9),
        view(1),
        view(2, {ALL: {"auc": reading(None)}}),
        view(3, failed=True),
        view(4, {("8", ""): {"auc": reading(0.9)}}),
    ]
    found = folded(rule(Missing(), windows=3), views)
    assert [one[ALL].kind for one in found.evidence] == [
        "good", "breach", "breach", "breach", "no_data",
    ]  # fmt: skip
    assert [one[ALL].reason for one in found.evidence] == [
        "it has one",
        "there are no predictions",
        "AUC is undefined: no positives",
        "the window could not be evaluated",
        "another model version has taken over",
    ]
    assert [one[ALL].state for one in found.states] == [
        "ok", "pending", "pending", "firing", "firing",
    ]  # fmt: skip


def of_rows(*numbers):
    return [
        view(n, {} if rows == 0 else {ALL: {"predictions": Reading(value=float(rows))}})
        for n, rows in enumerate(numbers)
    ]


def health(kind, limit=0.0):
    return rule(Health(kind=kind, limit=limit), metric=f"health:{kind}")


WHOLE = ("", "")


def test_no_predictions_are_seen_where_nothing_was_before():
    views = [*of_rows(0, 5), view(2, failed=True)]
    assert kinds(health("no_data"), views, WHOLE) == ["breach", "good", "error"]


def test_volume_is_compared_with_the_weeks_before():
    views = of_rows(100, 100, 100, 51, 49, 0, 600)
    # The means before them: 100, 87.75, 80 and 66.7.
    assert kinds(health("volume", 0.45), views, WHOLE) == [
        *["insufficient"] * 3, "breach", "good", "breach", "breach",
    ]  # fmt: skip
    assert kinds(health("volume", 0.5), views, WHOLE)[3:5] == ["good", "good"]
    found = folded(health("volume", 0.5), views).evidence[5][WHOLE]
    assert found.reason == "there are 0 predictions, 100% less than the mean of 80"


def test_labels_without_predictions_are_a_share_of_all():
    def share(orphans, arrivals):
        return [view(0, health={"orphans": orphans, "arrivals": arrivals})]

    assert kinds(health("unmatched_labels", 0.05), share(5, (40, 55)), WHOLE) == ["good"]
    assert kinds(health("unmatched_labels", 0.05), share(6, (40, 55)), WHOLE) == ["breach"]
    assert kinds(health("unmatched_labels", 0.05), share(0, ()), WHOLE) == ["no_data"]


def test_scores_that_are_all_one_or_off_their_range_are_seen():
    def days(*scores):
        return [view(n, health={"scores": one}) for n, one in enumerate(scores)]

    usual = (0.1, 0.2, 0.7, 0.9)
    views = days(usual, usual, usual, (0.0, 0.15, 0.8, 1.0), (0.1, 0.2, 1.1, 1.2), (0.3,) * 4)
    assert kinds(health("score_range"), [*views, view(6)], WHOLE) == [
        "insufficient", "insufficient", "insufficient", "good", "breach", "breach", "no_data",
    ]  # fmt: skip


# -- what is read ---------------------------------------------------------------------------------


def test_a_rule_reads_what_is_its_own_and_nothing_else():
    one = RuleFold(rule(BELOW, segment="country=DE"))
    before = view(0, {ALL: {"auc": reading(0.9)}, ("7", "country=DE"): {"auc": reading(0.8)}})
    other = view(
        0, {ALL: {"auc": reading(0.1)}, ("7", "country=DE"): {"auc": reading(0.8)}}, pane=2
    )
    changed = view(0, {("7", "country=DE"): {"auc": reading(0.81)}})
    assert one.reads(before) == one.reads(other)
    assert one.reads(before) != one.reads(changed)
    assert one.reads(before) != one.reads(view(0, failed=True))


def test_a_pane_that_comes_to_have_a_reference_is_read_again():
    one = RuleFold(
        rule(Change(direction="drop", amount=0.05, relative=False)), known_reference=reference(0.8)
    )
    early, late = (
        view(0, {ALL: {"auc": reading(0.1)}}, as_of=START + days * DAY) for days in (3, 4)
    )
    assert one.reads(early) != one.reads(late)
