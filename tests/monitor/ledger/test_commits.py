"""What is stored of collecting and evaluating, and when that makes a new revision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from pumonitor import __version__
from pumonitor.monitor.ledger.claims import claims
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import evaluations, metadata, results
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from tests.monitor.ledger.monitored_days import (
    DAY,
    LONG_AFTER,
    MONITOR,
    STATES,
    TABLE,
    collected,
    counted,
    day,
    evaluated,
    judged,
    key,
    message,
    panes_of,
    planned,
    run_out,
)


def evaluate_again(ledger: Ledger, **found: Any) -> tuple[int, ...]:
    """Have the first day collected and evaluated once more."""
    digest = found.pop("digest", "d")
    assert ledger.reopen([key(0)], which="all", actor="ana") == 1
    collected(ledger, digest=digest)
    return evaluated(ledger, **found)


def auc_by_revision(ledger: Ledger) -> list[tuple[int, float | None]]:
    found = ledger.results(metrics=["auc"], revisions="all")
    return [(one.revision, one.value) for one in found]


def test_what_was_collected_comes_back(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger, now=day(0).end)

    overall, segment = ledger.series(key(0), 0)

    assert (overall.model_version, overall.segment, segment.segment) == ("7", "", "country=DE")
    assert (overall.window, overall.number, overall.state) == (day(0), 0, "provisional")
    assert overall.as_of == day(0).end
    assert overall.class_prior == {"value": 0.25, "low": 0.2, "high": 0.3}
    assert overall.delays == [[1, 2], [0, 0]]
    table = overall.table()
    assert table is not None
    np.testing.assert_array_equal(table.labeled, TABLE.labeled)
    assert ledger.series(key(0), 1) == ()


def test_a_series_may_be_without_a_table(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=day(0).end)
    assert claim is not None
    (pane,) = counted(claim)
    bare = replace(pane.series[0], table=None, class_prior=None, delays=None)
    ledger.commit_collect(claim, [replace(pane, series=[bare])])

    (stored,) = ledger.series(key(0), 0)
    assert (stored.table(), stored.class_prior, stored.delays) == (None, None, None)


def test_a_window_tells_how_far_its_panes_are(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger, now=panes_of(day(0))[1].as_of)
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    assert [(one.pane.number, one.digest, one.counts) for one in claim.panes] == [
        (0, "d0", {"predictions": 110}),
        (1, "d1", {"predictions": 111}),
    ]
    ledger.commit_evaluate(claim, judged(claim)[:1])

    (window,) = ledger.windows()

    assert [(pane.number, pane.state, pane.status, pane.revision) for pane in window.panes] == [
        (0, "provisional", "evaluated", 0),
        (1, "mature", "collected", None),
        (2, "final", "planned", None),
    ]
    first = window.panes[0]
    assert (first.digest, first.library_version) == ("d0", __version__)
    assert first.collected_at is not None
    assert first.evaluated_at is not None
    assert first.collected_at <= first.evaluated_at
    assert (window.lease_owner, window.lease_until) == (None, None)


def test_revisions_are_the_numbers_of_panes(ledger: Ledger) -> None:
    planned(ledger, 1)
    for pane in panes_of(day(0)):
        collected(ledger, now=pane.as_of)
        assert evaluated(ledger) == (pane.number,)

    found = ledger.results(metrics=["auc"], revisions="all")
    assert [(one.revision, one.state, one.as_of) for one in found] == [
        (pane.number, pane.state, pane.as_of) for pane in panes_of(day(0))
    ]


def test_windows_evaluated_afterwards_are_as_they_would_have_been(ledger: Ledger) -> None:
    planned(ledger, 2)
    collected(ledger)
    collected(ledger)
    assert evaluated(ledger) == (0, 1, 2)
    assert evaluated(ledger) == (0, 1, 2)

    found = ledger.results(metrics=["auc"], revisions="all")
    assert [(one.window_start, one.revision, one.state) for one in found] == [
        (day(number).start, revision, state)
        for number in range(2)
        for revision, state in enumerate(STATES)
    ]


def test_the_same_data_with_the_same_results_make_nothing_new(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)
    before = (ledger.results(revisions="all"), ledger.evaluations(MONITOR, start=day(0).start))

    assert evaluate_again(ledger) == ()

    assert before == (
        ledger.results(revisions="all"),
        ledger.evaluations(MONITOR, start=day(0).start),
    )
    assert ledger.outbox.waiting()["mlflow"].messages == 3
    (window,) = ledger.windows()
    assert {pane.status for pane in window.panes} == {"evaluated"}
    assert ledger.counts(now=LONG_AFTER).to_evaluate == 0


@pytest.mark.parametrize(
    "found", [{"digest": "e"}, {"value": 0.90000001}, {"note": "odd"}], ids=str
)
def test_other_data_or_other_results_make_a_new_revision(
    ledger: Ledger, found: dict[str, object]
) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)

    assert evaluate_again(ledger, **found) == (0, 1, 2)

    assert [revision for revision, _ in auc_by_revision(ledger)] == [0, 1, 2, 3, 4, 5]
    (newest,) = ledger.results(metrics=["auc"])
    assert (newest.revision, newest.state) == (5, "final")
    assert ledger.outbox.waiting()["mlflow"].messages == 6
    assert evaluate_again(ledger, **found) == ()


def test_a_correction_of_an_early_pane_does_not_hide_a_later_one(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)
    ledger.reopen([key(0)], which="all", actor="ana")
    claim = ledger.claim_collect("me", now=day(0).end)
    assert claim is not None
    ledger.commit_collect(claim, counted(claim, digest="corrected"))
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    assert [(one.pane.number, one.revision) for one in claim.panes] == [(0, 3)]
    ledger.commit_evaluate(claim, judged(claim, value=0.7))

    (newest,) = ledger.results(metrics=["auc"])
    assert (newest.revision, newest.state, newest.value) == (2, "final", 0.9)
    assert auc_by_revision(ledger) == [(0, 0.9), (1, 0.9), (2, 0.9), (3, 0.7)]


def test_reopening_refuses_work_that_is_under_way(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None

    assert ledger.reopen([key(0)], which="missing", actor="ana") == 0
    assert ledger.reopen([key(0)], which="failed", actor="ana") == 0
    ledger.renew(claim)
    assert ledger.reopen([key(0)], which="all", actor="ana") == 1
    with pytest.raises(StaleClaimError):
        ledger.commit_collect(claim, counted(claim))


def test_reopening_what_is_missing_or_failed_ends_its_wait(ledger: Ledger) -> None:
    planned(ledger, 3)
    collected(ledger)
    evaluated(ledger)
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.release(claim, error="the source is gone")

    everything = [key(0), key(1), key(2), "no such window"]
    assert ledger.reopen(everything, which="failed", actor="ana") == 1
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    assert (claim.window, claim.attempts) == (day(1), 0)
    ledger.release(claim, error="still gone")
    assert ledger.reopen(everything, which="missing", actor="ana") == 2
    assert [(one.actor, one.action, one.detail) for one in ledger.audit(limit=2)] == [
        ("ana", "reopen", {"which": "missing", "windows": sorted([key(1), key(2)])}),
        ("ana", "reopen", {"which": "failed", "windows": [key(1)]}),
    ]
    assert ledger.windows()[0].panes[0].status == "evaluated"


def test_results_stay_while_a_window_is_done_again(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)
    before = ledger.results()
    ledger.reopen([key(0)], which="all", actor="ana")

    assert ledger.results() == before
    assert len(ledger.series(key(0), 2)) == 2
    collected(ledger)
    assert ledger.results() == before


def test_a_series_that_is_gone_is_gone_when_collected_again(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    ledger.reopen([key(0)], which="all", actor="ana")
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.commit_collect(claim, [replace(pane, series=pane.series[:1]) for pane in counted(claim)])

    assert [one.segment for one in ledger.series(key(0), 0)] == [""]


def test_an_empty_window_has_a_revision_and_no_results(ledger: Ledger) -> None:
    planned(ledger, 1)
    collected(ledger)
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    empty = [EvaluatedPane(number=one.pane.number) for one in claim.panes]

    assert ledger.commit_evaluate(claim, empty) == (0, 1, 2)
    assert ledger.results() == ()
    assert [pane.revision for pane in ledger.windows()[0].panes] == [0, 1, 2]


def test_a_message_is_announced_once_per_destination_and_key(ledger: Ledger) -> None:
    planned(ledger, 2)
    for number in range(2):
        collected(ledger, now=day(number).end)
        claim = ledger.claim_evaluate("me")
        assert claim is not None
        (pane,) = judged(claim)
        told = [message("same"), message("same", destination="chat"), message(f"{number}")]
        ledger.commit_evaluate(claim, [replace(pane, messages=told)])

    assert {name: one.messages for name, one in ledger.outbox.waiting().items()} == {
        "mlflow": 3,
        "chat": 1,
    }


# -- what is refused --------------------------------------------------------------------------


def judge_with(result: MetricResult) -> EvaluatedSeries:
    return EvaluatedSeries(model_version="7", segment="", evaluation={}, results=[result])


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["value", "low", "high", "se"])
def test_no_nan_and_no_infinity_is_stored(ledger: Ledger, field: str, number: float) -> None:
    planned(ledger, 1)
    collected(ledger, now=day(0).end)
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    result = replace(MetricResult(metric="auc", value=0.5), **{field: number})

    with pytest.raises(
        ValueError, match=r"results must be finite or None, got .* for auc of model"
    ):
        ledger.commit_evaluate(claim, [EvaluatedPane(number=0, series=[judge_with(result)])])

    ledger.commit_evaluate(claim, judged(claim))  # nothing was stored, the claim still holds
    assert auc_by_revision(ledger) == [(0, 0.9)]


def test_what_is_no_plain_json_is_refused(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=day(0).end)
    assert claim is not None
    (pane,) = counted(claim)
    with pytest.raises(ValueError, match="counts of pane 0 must hold plain, finite JSON values"):
        ledger.commit_collect(claim, [replace(pane, counts={"predictions": math.nan})])
    odd = replace(pane.series[0], class_prior={"value": np.float32(1)})
    with pytest.raises(ValueError, match="class prior must hold plain, finite JSON values: Object"):
        ledger.commit_collect(claim, [replace(pane, series=[odd])])
    ledger.commit_collect(claim, [pane])
    claim = ledger.claim_evaluate("me")
    assert claim is not None
    (judgement,) = judged(claim)
    bad = message("k")
    with pytest.raises(ValueError, match="payload of 'k' for mlflow must hold plain, finite JSON"):
        ledger.commit_evaluate(
            claim,
            [replace(judgement, messages=[replace(bad, payload={"number": math.inf})])],
        )
    with pytest.raises(ValueError, match="two evaluations of model version '7', segment ''"):
        ledger.commit_evaluate(claim, [replace(judgement, series=judgement.series * 2)])
    with ledger.database.reading() as connection:
        for table in (evaluations, results):
            assert connection.scalar(select(func.count()).select_from(table)) == 0


def test_only_what_was_claimed_is_stored(ledger: Ledger) -> None:
    planned(ledger, 1)
    claim = ledger.claim_collect("me", now=day(0).end)
    assert claim is not None
    (pane,) = counted(claim)
    for panes in ([], [pane, pane], [replace(pane, number=1)]):
        with pytest.raises(ValueError, match=r"panes must be some of those claimed, \[0\], got"):
            ledger.commit_collect(claim, panes)
    with pytest.raises(ValueError, match="a claim to collect cannot store what a claim to eval"):
        ledger.commit_evaluate(claim, judged(claim))
    ledger.commit_collect(claim, [pane])


def test_the_unique_keys_hold_without_the_fence(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(ledger, 1)
    collected(ledger)
    slow = ledger.claim_evaluate("slow")
    run_out(ledger)
    fast = ledger.claim_evaluate("fast")
    assert slow is not None
    assert fast is not None
    ledger.commit_evaluate(fast, judged(fast))
    monkeypatch.setattr(claims, "finish", lambda *_: None)

    with pytest.raises(IntegrityError):
        ledger.commit_evaluate(slow, judged(slow, value=0.5))
    assert auc_by_revision(ledger) == [(0, 0.9), (1, 0.9), (2, 0.9)]


def test_no_secret_of_an_error_is_anywhere_in_the_database(
    open_ledger: Callable[..., Ledger],
) -> None:
    canary = "c4nary-s3cret"
    ledger = open_ledger(mask=lambda text: text.replace(canary, "****"))
    planned(ledger, 1)
    collected(ledger)
    evaluated(ledger)
    ledger.reopen([key(0)], which="all", actor="ana")
    claim = ledger.claim_collect("me", now=LONG_AFTER)
    assert claim is not None
    ledger.release(claim, error=f"password {canary} was refused")
    for told in ledger.outbox.claim("mlflow", limit=2, lease=DAY):
        if told.id == 1:
            ledger.outbox.set_aside(told, reason=f"token {canary}")
        else:
            ledger.outbox.failed(told, reason=f"token {canary}", retry_after=DAY, refused=True)

    with ledger.database.reading() as connection:
        text = repr([connection.execute(select(table)).all() for table in metadata.sorted_tables])
    assert "****" in text
    assert canary not in text
