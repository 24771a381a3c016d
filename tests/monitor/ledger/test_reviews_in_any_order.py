"""Whatever is read in whatever order, an audit says what the usable verdicts say, and no other."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pumonitor.audit.given import GivenVerdict
from pumonitor.monitor.ledger.ledger import Ledger
from tests.conftest import migrated
from tests.monitor.ledger.monitored_days import CONFIGURATION, MONITOR, day
from tests.monitor.ledger.reviewed_audits import CASES, DRAWN_AT, put_audit

NUMBERS = {row_id: [] for row_id, *_ in CASES}
for place, (row_id, *_) in enumerate(CASES, start=1):
    NUMBERS[row_id].append(place)
WORDS = {"1": 1, "0": 0, "TRUE": 1, "undecided": None, "1.0": 1}

LINES = st.builds(
    GivenVerdict,
    id=st.sampled_from([*NUMBERS, "k9", "", None, " k0 ", "K0"]),
    verdict=st.sampled_from([*WORDS, "yes", "", None, "2", "-1"]),
    audit=st.sampled_from([None, "a1", "a1", "b2"]),
    case=st.sampled_from([None, None, None, "3", "7", "1", "x"]),
    at=st.one_of(
        st.none(),
        st.integers(-3, 9).map(lambda hours: DRAWN_AT + timedelta(hours=hours)),
        st.just(DRAWN_AT + timedelta(days=90_000)),
    ),
    is_time_unread=st.sampled_from([False, False, False, True]),
    reviewer=st.sampled_from(["", "ann", "bob"]),
)


class Reviews(RuleBasedStateMachine):
    """An audit of eight lines, files of verdicts, and what they should come to.

    The model knows no keys, no tables and no order of files: of each reviewer and case, the latest
    verdicts, those without a time being later than all before. What nobody signed is not new where
    somebody who was named has said it.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        address = f"sqlite:///{Path(self.folder.name) / 'state.db'}"
        migrated(address)
        self.ledger = Ledger.open(address)
        put_audit(self.ledger)
        self.said = defaultdict(dict)
        self.files = 0
        self.last: list[GivenVerdict] = []

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
            self.folder.cleanup()

    def number_of(self, line: GivenVerdict, turns: dict) -> int | None:
        """The case of a line that can be used."""
        name = (line.id or "").strip()
        if line.audit not in (None, "a1") or name not in NUMBERS or line.verdict not in WORDS:
            return None
        if line.is_time_unread or (line.at and not DRAWN_AT <= line.at < day(20_000).start):
            return None
        own = NUMBERS[name]
        if line.case is not None:
            return int(line.case) if line.case.isdecimal() and int(line.case) in own else None
        turns[name, line.reviewer] += 1
        return own[min(turns[name, line.reviewer], len(own)) - 1]

    @rule(lines=st.lists(LINES, max_size=12))
    def read(self, lines: list[GivenVerdict]) -> None:
        self.files += 1
        self.last = lines
        turns: dict = defaultdict(int)
        timed, untimed = defaultdict(set), defaultdict(set)
        usable = 0
        for line in lines:
            number = self.number_of(line, turns)
            if number is None:
                continue
            usable += 1
            said = WORDS[line.verdict]
            if line.at is None:
                untimed[number, line.reviewer].add(said)
            else:
                timed[number, line.reviewer, (0, line.at)].add(said)
        before = {
            place: {at: set(one) for at, one in by.items()} for place, by in self.said.items()
        }
        self.leave_out_what_is_said_by_name(before, timed, untimed)
        for (number, reviewer, at), some in timed.items():
            self.said[number, reviewer].setdefault(at, set()).update(some)
        for place, some in untimed.items():
            known = before.get(place, {})
            if not known or known[max(known)] != some:
                self.said[place][1, self.files] = some
        changed = {place: by for place, by in self.said.items() if by} != before
        done = self.ledger.reviews.read(
            MONITOR, lines, source="v", digest=str(self.files), actor="ann"
        )
        assert (done.added > 0) == changed
        words = sum(1 for one in lines if (one.verdict or "").strip())
        refused = sum(
            len(named) for (_, why), named in done.judged.refused.items() if why != "duplicate"
        )
        assert usable + refused == words

    def leave_out_what_is_said_by_name(self, before: dict, timed: dict, untimed: dict) -> None:
        """Of what nobody signed, on cases where all of it was said by somebody who was named."""
        for number in {one for one, reviewer, *_ in [*timed, *untimed] if not reviewer}:
            named = [by for (one, who), by in before.items() if one == number and who and by]
            own = {key: some for key, some in timed.items() if key[:2] == (number, "")}
            last = set().union(*(by[max(by)] for by in named))
            if (
                not before.get((number, ""))
                and untimed.get((number, ""), set()) <= last
                and all(
                    some <= set().union(*(by.get(at, set()) for by in named))
                    for (*_, at), some in own.items()
                )
            ):
                untimed.pop((number, ""), None)
                for key in own:
                    del timed[key]

    @rule()
    def read_the_last_again(self) -> None:
        done = self.ledger.reviews.read(
            MONITOR, self.last, source="v", digest=str(self.files), actor="ann"
        )
        assert (done.added, done.reopened) == (0, 0)

    @rule()
    def delete_ids(self) -> None:
        self.ledger.reviews.delete_ids(MONITOR, drawn_before=day(30).start)

    @invariant()
    def the_audit_says_what_was_said(self) -> None:
        if not hasattr(self, "ledger"):
            return
        by_case = defaultdict(set)
        for (number, _), by in self.said.items():
            if by:
                by_case[CASES[number - 1][0]] |= by[max(by)]
        found = self.ledger.read_audits(MONITOR, CONFIGURATION)
        drawn = {name: (at, which) for name, at, kind, which in CASES if kind == "case"}
        decided = {name: one for name, one in by_case.items() if len(one) == 1 and one != {None}}
        if not set(decided) & set(drawn):
            assert found == []
            return
        (audit,) = found
        for which in (0, 1):
            counts = audit.by_window[day(which).start]
            for place in (0, 1):
                here = [name for name, where in drawn.items() if where == (place, which)]
                assert counts.decided[place] == sum(name in decided for name in here)
                positive = sum(decided.get(name) == {1} for name in here)
                assert counts.positive[place] == positive
                undecided = sum(name in by_case and name not in decided for name in here)
                assert counts.undecided[place] == undecided
        assert audit.unread == sum(name not in by_case for name in drawn)
        assert audit.conflicts == sum(len(by_case.get(name, ())) > 1 for name in drawn)
        assert audit.seeds_known == ("s0" in decided)
        assert audit.seeds_found == (decided.get("s0") == {1})


TestReviews = Reviews.TestCase
TestReviews.settings = settings(
    max_examples=6, stateful_step_count=15, deadline=None, phases=[Phase.generate]
)
