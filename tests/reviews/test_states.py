"""What both channels say of a row as one number, and back."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pumonitor.reviews.counts import KINDS, kind_of_rows
from pumonitor.reviews.states import (
    PENDING,
    POSITIVE_STATES,
    REASONS,
    REVIEWERS_DIFFER,
    STATES,
    are_ranked,
    kinds_of_states,
    states_of,
)

KIND_OF_REASON = {"score": 0, "random": 0, "audit": 1, "complaint": 3, "rule": 2}


@pytest.mark.parametrize(
    ("complained", "verdict", "reason", "stopped"),
    list(product([False, True], [1, 0, -1, -2, REVIEWERS_DIFFER, PENDING], REASONS, [False, True])),
)
def test_a_state_is_of_the_kind_that_its_row_is_of(complained, verdict, reason, stopped):
    state = states_of(
        complained=np.array([complained]),
        verdict=np.array([verdict]),
        reason=np.array([REASONS.index(reason)]),
    )
    (kind,) = kinds_of_states(state, stopped=np.array([stopped]))
    (expected,) = kind_of_rows(
        # Who waits for a verdict is like one that nobody looked at.
        verdict=np.array([{REVIEWERS_DIFFER: -1, PENDING: -2}.get(verdict, verdict)], np.int8),
        chosen_by=np.array([KIND_OF_REASON[reason]], dtype=np.int8),
        complained=np.array([complained]),
        stopped=np.array([stopped]),
    )
    assert KINDS[kind] == KINDS[expected]
    assert are_ranked(state).item() == (verdict != -2 and reason == "score")
    assert 0 <= state.item() < STATES


def test_every_state_is_of_another_row():
    verdicts = [1, 0, -1, REVIEWERS_DIFFER, PENDING]
    rows = list(product([False, True], verdicts, range(len(REASONS))))
    states = {
        states_of(
            complained=np.array([complained]), verdict=np.array([verdict]), reason=np.array([why])
        ).item()
        for complained, verdict, why in rows
    }
    # Beside these, nothing known at all, and a complaint alone.
    assert states | {0, 1} == set(range(STATES))


def test_known_positives_are_those_with_a_verdict_or_a_complaint_that_nothing_contradicts():
    def state(complained, verdict, reason="score"):
        return states_of(
            complained=np.array([complained]),
            verdict=np.array([verdict]),
            reason=np.array([REASONS.index(reason)]),
        ).item()

    positive = [state(True, -2), state(False, 1), state(True, 0), state(True, -1)]
    others = [state(False, -2), state(False, 0), state(False, -1), state(True, 0, "complaint")]
    assert set(positive) <= set(POSITIVE_STATES)
    assert not set(others) & set(POSITIVE_STATES)
