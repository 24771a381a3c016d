"""Whatever order work is done in, by however many workers: alerts are what a naive fold finds."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.rules.alerts.alert import Alert
from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.ports import Pane
from tests.monitor.alerted_ledger import (
    DAY,
    FIRST,
    MONITOR,
    AlertedLedger,
    day,
    known,
    rows,
)
from tests.monitor.ledger.monitored_days import run_out
from tests.oracles import naive_alerts

VALUES = {"breach": 0.5, "good": 0.9, "insufficient": 0.75, "undefined": None}
KINDS = st.sampled_from([*VALUES, "no_data", "breach", "good"])
REPEAT = 3
SLOW = AlertRule(
    key="slow",
    name="slow",
    metric="auc",
    condition=Limit(side="below", limit=0.75),
    windows=2,
    keep=1,
    repeat=REPEAT * DAY,
)
QUICK = replace(SLOW, key="quick", name="quick", windows=1, keep=0, provisional=True)
DROP = replace(
    SLOW,
    key="drop",
    name="drop",
    windows=1,
    condition=Change(direction="drop", amount=0.05, relative=False, over=5 * DAY),
)
RULES = (SLOW, QUICK, DROP)


class Commits(RuleBasedStateMachine):
    """Days go by; workers collect, evaluate, die, overtake each other, and do things twice."""

    days_in_all = 8

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.ledger = Ledger.open(
            f"sqlite:///{self.folder}/state.db", rules=WorkRules(attempts_allowed=2)
        )
        self.kinds: dict[tuple[int, object], str] = {}
        self.found = AlertedLedger(self.ledger, RULES, self.results)
        self.claims: list[object] = []
        self.days = 0
        self.may_be_corrected = True
        # Reprocessing changes what was told before: then only what must always hold is checked.
        self.is_history_rewritten = False
        self.workers = [self.found.worker(), self.found.worker()]

    def results(self, pane: Pane) -> object:
        kind = self.kind(pane)
        if kind == "no_data":
            return {}
        return {("7", ""): [known("auc", VALUES[kind]), rows(1000)]}

    def kind(self, pane: Pane) -> str:
        # What was not drawn is as the look before; mature windows mostly stay as they are.
        number = (pane.window.start - FIRST) // DAY
        looks = [one for one in self.found.schedule.panes(pane.window) if one.as_of <= pane.as_of]
        drawn = [self.kinds.get((number, one.as_of)) for one in looks]
        return next((one for one in reversed(drawn) if one is not None), "good")

    @initialize(data=st.data(), may_be_corrected=st.booleans())
    def draw(self, data: st.DataObject, may_be_corrected: bool) -> None:
        self.may_be_corrected = may_be_corrected
        many = self.days_in_all
        for number, kind in enumerate(data.draw(st.lists(KINDS, min_size=many, max_size=many))):
            self.kinds[number, self.found.schedule.panes(day(number))[0].as_of] = kind

    @precondition(lambda self: self.days < self.days_in_all)
    @rule(several=st.integers(1, 5), collects=st.booleans())
    def time_goes_by(self, several: int, collects: bool) -> None:
        self.days = min(self.days + several, self.days_in_all)
        self.found.now = FIRST + self.days * DAY
        self.found.plan(range(self.days))
        if collects:
            self.found.collect()

    @precondition(lambda self: self.days < self.days_in_all)
    @rule(back=st.integers(-2, 3), look=st.integers(1, 2), kind=KINDS)
    def a_later_look_will_say_something_else(self, back: int, look: int, kind: str) -> None:
        number = min(max(self.days - back, 0), self.days_in_all - 1)
        pane = self.found.schedule.panes(day(number))[look]
        if pane.as_of > self.found.now:
            self.kinds[number, pane.as_of] = kind

    @precondition(lambda self: self.days)
    @rule()
    def collect(self) -> None:
        self.found.collect()

    @precondition(lambda self: self.days and len(self.claims) < 4)
    @rule()
    def claim(self) -> None:
        claim = self.found.claim()
        if claim is not None:
            self.claims.append(claim)

    @precondition(lambda self: self.claims)
    @rule(which=st.integers(0, 9), worker=st.integers(0, 1), twice=st.booleans())
    def commit(self, which: int, worker: int, twice: bool) -> None:
        claim = self.claims.pop(which % len(self.claims))
        self.found.commit(claim, self.workers[worker])
        if twice:
            self.refused(claim, worker)

    def refused(self, claim: object, worker: int) -> None:
        with pytest.raises(StaleClaimError):
            self.found.commit(claim, self.workers[worker])
        self.workers[worker].forget(MONITOR)

    @rule(worker=st.integers(0, 1))
    def evaluate_all(self, worker: int) -> None:
        for claim in [*reversed(self.claims)]:
            self.found.commit(claim, self.workers[worker])
        self.claims.clear()
        while (claim := self.found.claim()) is not None:
            self.found.commit(claim, self.workers[worker])
        self.fired_and_resolved_alternate()
        if not self.is_history_rewritten:
            self.told_is_what_the_naive_fold_tells()

    @precondition(lambda self: self.claims)
    @rule(which=st.integers(0, 9))
    def a_worker_dies(self, which: int) -> None:
        """Its lease runs out; what it wakes up to commit is refused once others took over."""
        claim = self.claims.pop(which % len(self.claims))
        run_out(self.ledger)
        again = self.found.claim()
        if again is not None and again.window_key == claim.window_key:
            self.refused(claim, 0)
        # All leases ran out; windows that die twice are given up, which waits for nobody.
        self.claims = [] if again is None else [again]
        self.is_history_rewritten = self.is_history_rewritten or any(
            one.attempts >= 2 for one in self.ledger.windows(MONITOR)
        )

    @rule(worker=st.integers(0, 1), anew=st.booleans())
    def advance(self, worker: int, anew: bool) -> None:
        if anew:
            self.workers[worker] = self.found.worker()
        self.found.advance(self.workers[worker])

    @precondition(lambda self: self.may_be_corrected and self.days > 4 and not self.claims)
    @rule(back=st.integers(1, 8), look=st.integers(0, 2), kind=KINDS)
    def data_are_corrected(self, back: int, look: int, kind: str) -> None:
        number = max(self.days - back, 0)
        pane = self.found.schedule.panes(day(number))[look]
        self.kinds[number, pane.as_of] = kind
        keys = [one.window_key for one in self.ledger.windows(MONITOR)]
        self.ledger.reopen(keys[number : number + 1], which="all", actor="test")
        self.is_history_rewritten = True

    @rule(hours=st.integers(1, 72), which=st.sampled_from([None, "slow", "quick"]))
    def silence(self, hours: int, which: str | None) -> None:
        now = self.found.now
        self.ledger.by_people.silence(
            Silence(starts=now, ends=now + timedelta(hours=hours), rule=which)
        )

    def fired_and_resolved_alternate(self) -> None:
        for _, some in itertools.groupby(
            sorted(self.found.told("rule", "as_of", "kind", "incident"), key=lambda one: one[0]),
            key=lambda one: one[0],
        ):
            kinds = [(kind, incident) for _, _, kind, incident in some if kind != "reminder"]
            expected = itertools.cycle(["fired", "resolved"])
            assert [kind for kind, _ in kinds] == list(itertools.islice(expected, len(kinds)))
            assert [incident for _, incident in kinds] == [1 + n // 2 for n in range(len(kinds))]

    def told_is_what_the_naive_fold_tells(self, *, everything: bool = False) -> None:
        panes, kinds = self.complete_prefix()
        told = self.found.told("rule", "as_of", "kind", "incident", "reminder", "reason")
        progress = self.ledger.alerts.progress(MONITOR)
        for one in (SLOW, QUICK):
            naive = naive_alerts.transitions(
                panes,
                kinds,
                windows=one.windows,
                keep=one.keep,
                provisional=one.provisional,
                repeat_days=REPEAT,
            )
            own = [row[1:] for row in told if row[0] == one.name]
            # What was evaluated and not folded yet follows with the next commit.
            until = progress[one.key].as_of if one.key in progress else None
            by_then = [row for row in naive if until is not None and row[0] < until]
            assert own == naive[: len(own)]
            assert len(own) >= len(by_then)
            if everything:
                assert own == naive

    def complete_prefix(self) -> tuple[list[object], dict[object, str]]:
        panes, kinds = [], {}
        records = self.ledger.windows(MONITOR)
        every = [(pane.as_of, one.window, pane) for one in records for pane in one.panes]
        for as_of, window, pane in sorted(every, key=lambda one: one[:2]):
            if pane.status != "evaluated":
                break
            number = (window.start - FIRST) // DAY
            panes.append((as_of, number, pane.state))
            kinds[number, as_of] = self.kind(self.found.schedule.panes(window)[pane.number])
        return panes, kinds

    def teardown(self) -> None:
        try:
            self.finish()
        finally:
            self.ledger.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self) -> None:
        """Everything up to some day, and the same once more by one worker in order."""
        end = FIRST + (self.days_in_all + 3) * DAY
        self.found.now = end
        self.found.plan(range(self.days_in_all))
        self.evaluate_all(0)
        run_out(self.ledger)
        self.found.collect()
        self.evaluate_all(1)
        self.found.advance(self.workers[0])
        with Ledger.open(f"sqlite:///{self.folder}/again.db") as ledger:
            again = AlertedLedger(ledger, RULES, self.results)
            again.now = end
            again.plan(range(self.days_in_all))
            again.collect()
            again.evaluate()
            again.advance()
            states = {one.rule: states_of(one) for one in ledger.alerts.current()}
            told = again.told(*FIELDS)
        mine = self.ledger.alerts.current()
        assert {one.rule: states_of(one) for one in mine} == states
        for one in mine:
            if one.state in ("firing", "recovering"):
                assert one.is_firing
            elif one.state == "ok":
                assert not one.is_firing
        if not self.is_history_rewritten:
            self.told_is_what_the_naive_fold_tells(everything=True)
            # Rules take turns within a transaction, whose ends are where workers put them.
            assert sorted(self.found.told(*FIELDS), key=repr) == sorted(told, key=repr)


FIELDS = ("rule", "as_of", "kind", "incident", "reminder", "reason", "window_start", "sentence")


def states_of(alert: Alert) -> tuple[object, ...]:
    return alert.state, alert.count, alert.evidence, alert.value, alert.window_start


class ManyCommits(Commits):
    """Three times as long."""

    days_in_all = 24


def go(machine: type[Commits], *, runs: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            phases=[Phase.generate],
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_alerts_do_not_depend_on_who_commits_what_when() -> None:
    go(Commits, runs=4, steps=50)


@pytest.mark.slow
def test_they_do_not_over_thousands_of_steps() -> None:
    go(ManyCommits, runs=20, steps=150)
