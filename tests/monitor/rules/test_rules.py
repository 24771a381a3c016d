"""What windows say about limits, about many segments at once, and when a rule is folded again."""

from __future__ import annotations

import numpy as np
import pytest

from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.false_discovery import (
    e_benjamini_hochberg,
    one_sided_p_value,
    rejected,
)
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import (
    Reading,
)
from tests.monitor.rules.folded_views import (
    ALL,
    DAY,
    DROP,
    START,
    folded,
    kinds,
    of_metric,
    reading,
    reference,
    rule,
    view,
)

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
        "AUC is 0.730 (0.710 to 0.750), all of it below 0.75, which may be chance as there are 6 "
        "segments"
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
