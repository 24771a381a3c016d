"""Rules on windows without usable values, and on the health of the input."""

from __future__ import annotations

from pumonitor.monitor.rules.alerts.by_series import Missing
from pumonitor.monitor.rules.alerts.health import (
    NoPredictions,
    OrphanLabels,
    UnusualScores,
    UnusualVolume,
)
from pumonitor.monitor.rules.alerts.rule import Reading
from tests.monitor.rules.folded_views import ALL, folded, kinds, of_metric, reading, rule, view


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
        "the metric has a value",
        "there are no predictions",
        "AUC is undefined: no positives",
        "the window could not be evaluated",
        "another model version has replaced this one",
    ]
    assert [one[ALL].state for one in found.states] == [
        "ok", "pending", "pending", "firing", "firing",
    ]  # fmt: skip


def of_rows(*numbers):
    return [
        view(n, {} if rows == 0 else {ALL: {"predictions": Reading(value=float(rows))}})
        for n, rows in enumerate(numbers)
    ]


KINDS = {
    "no_data": NoPredictions,
    "volume": UnusualVolume,
    "unmatched_labels": OrphanLabels,
    "score_range": UnusualScores,
}


def health(kind, **limit):
    return rule(KINDS[kind](**limit), metric=f"health:{kind}")


WHOLE = ("", "")


def test_no_predictions_are_seen_where_nothing_was_before():
    views = [*of_rows(0, 5), view(2, failed=True)]
    assert kinds(health("no_data"), views, WHOLE) == ["breach", "good", "error"]


def test_volume_is_compared_with_the_weeks_before():
    views = of_rows(100, 100, 100, 51, 49, 0, 600)
    # The means before them: 100, 87.75, 80 and 66.7.
    assert kinds(health("volume", limit=0.45), views, WHOLE) == [
        *["insufficient"] * 3, "breach", "good", "breach", "breach",
    ]  # fmt: skip
    assert kinds(health("volume", limit=0.5), views, WHOLE)[3:5] == ["good", "good"]
    found = folded(health("volume", limit=0.5), views).evidence[5][WHOLE]
    assert found.reason == "there are 0 predictions, 100% less than the mean of 80"


def test_labels_without_predictions_are_a_share_of_all():
    def share(orphans, arrivals):
        return [view(0, health={"orphans": orphans, "arrivals": arrivals})]

    assert kinds(health("unmatched_labels", limit=0.05), share(5, (40, 55)), WHOLE) == ["good"]
    assert kinds(health("unmatched_labels", limit=0.05), share(6, (40, 55)), WHOLE) == ["breach"]
    assert kinds(health("unmatched_labels", limit=0.05), share(0, ()), WHOLE) == ["no_data"]


def test_scores_that_are_all_one_or_off_their_range_are_seen():
    def days(*scores):
        return [view(n, health={"scores": one}) for n, one in enumerate(scores)]

    usual = (0.1, 0.2, 0.7, 0.9)
    views = days(usual, usual, usual, (0.0, 0.15, 0.8, 1.0), (0.1, 0.2, 1.1, 1.2), (0.3,) * 4)
    assert kinds(health("score_range"), [*views, view(6)], WHOLE) == [
        "insufficient", "insufficient", "insufficient", "good", "breach", "breach", "no_data",
    ]  # fmt: skip
