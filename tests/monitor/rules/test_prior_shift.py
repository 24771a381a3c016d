"""A rule on a class prior that is followed: its chance to have moved, twice running."""

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.prior_shift import PriorShift, least_odds
from pumonitor.monitor.rules.alerts.rule import AlertRule, Reading, WindowView
from pumonitor.ports import Window

START = datetime(2026, 2, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = ("", "")


def view(number, chances, *, factor=2.0, prior=0.04):
    """A window whose series have these chances; None: it is not followed."""
    start = START + number * DAY
    readings = {}
    for series, chance in chances.items():
        readings[series] = {
            "class_prior": Reading(value=prior * factor, low=0.9 * prior, high=3 * prior)
        }
        if chance is not None:
            readings[series]["class_prior_moved"] = Reading(value=chance)
            readings[series]["class_prior_factor"] = Reading(
                value=factor, low=0.7 * factor, high=1.4 * factor
            )
    return WindowView(
        window=Window(start=start, end=start + DAY, index=number),
        pane=1,
        as_of=start + 3 * DAY,
        readings=readings,
    )


def rule(direction="any", *, per="", rate=1.0):
    return AlertRule(
        key="k",
        name="r",
        metric="class_prior",
        per=per,
        condition=PriorShift(
            direction=direction,
            false_alarms_per_year=rate,
            windows_per_year=365.25,
            reference_windows=30,
        ),
    )


def folded(one, *chances, series=ALL, **more):
    fold = RuleFold(one)
    fold.refold([view(n, {series: chance}, **more) for n, chance in enumerate(chances)], 0)
    return fold


def kinds(*arguments, **more):
    return [one[ALL].kind for one in folded(*arguments, **more).evidence]


def test_the_chance_has_to_be_high_twice_running():
    found = kinds(rule(), 0.02, 0.95, 0.3, 0.8, 0.95, 0.95, 0.8, 0.4)
    b, g, i = "breach", "good", "insufficient"
    assert found == [g, i, g, i, i, b, i, g]


def test_windows_that_are_not_followed_say_nothing_and_do_not_part_two_that_are():
    found = folded(rule(), None, 0.95, None, 0.95)
    assert [one[ALL].kind for one in found.evidence] == ["insufficient"] * 3 + ["breach"]
    assert "earlier" in found.evidence[0][ALL].reason


def test_only_the_direction_that_is_looked_for_counts():
    for factor, direction in ((2.0, "up"), (0.5, "down")):
        other = {"up": "down", "down": "up"}[direction]
        assert kinds(rule(direction), 0.99, 0.99, factor=factor)[-1] == "breach"
        assert kinds(rule(other), 0.99, 0.99, factor=factor)[-1] == "good"


def test_it_is_said_by_how_much_and_since_when():
    found = folded(rule(), 0.1, 0.7, 0.95, 0.99).evidence[-1][ALL]
    assert found.reason == (
        "Share of positives is 0.0800; it has risen to 2.00 times (1.40 to 2.80) that of the "
        "reference since about 2026-02-02"
    )
    assert found.since == START + DAY
    assert (found.reference, found.limit) == (pytest.approx(0.04), pytest.approx(0.05))


def test_fewer_false_alarms_take_longer_odds():
    assert least_odds(1.0, 52.0) == 4.0
    # Four a year of 8766 hourly windows: .013 changes a window times the windows between two.
    assert least_odds(4.0, 8766.0) == pytest.approx(0.013 * 8766 / 4, rel=0.1)
    assert kinds(rule(rate=0.01), 0.99, 0.99)[-1] == "insufficient"
    assert kinds(rule(rate=0.01), 0.999, 0.999)[-1] == "breach"


def test_segments_share_the_false_alarms_of_their_rule():
    """Of ten segments one needs ten times the odds, and all together no more than one alone."""
    segments = [("", f"country={n}") for n in range(10)]
    one = rule(per="country")

    def bad(*chances):
        fold = RuleFold(one)
        fold.refold([view(n, dict(zip(segments, chances, strict=True))) for n in range(2)], 0)
        return sum(found.kind == "breach" for found in fold.evidence[-1].values())

    assert bad(0.95, *[0.1] * 9) == 0
    assert bad(0.999, *[0.1] * 9) == 1
    assert bad(*[0.95] * 10) == 10
    assert bad(*[0.75] * 10) == 0


def test_what_comes_to_be_known_better_is_folded_as_if_it_had_always_been_known():
    views = [view(n, {ALL: chance}) for n, chance in enumerate([0.1, 0.2, 0.95, 0.95, 0.3])]
    fold = RuleFold(rule())
    fold.refold(views, 0)
    views[2] = view(2, {ALL: 0.2})
    fold.refold(views, 2)
    again = RuleFold(rule())
    again.refold(views, 0)
    assert fold.evidence == again.evidence
    assert fold.states == again.states
