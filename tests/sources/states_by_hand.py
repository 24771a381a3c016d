"""What complaints and reviews say of an id after each moment, by a loop over their rows."""

from __future__ import annotations

import numpy as np

from pumonitor.reviews.given import UNREVIEWED
from pumonitor.reviews.states import PENDING, REASONS, REVIEWERS_DIFFER, states_of

QUEUED = 2


def state(complained, verdict, reason):
    return states_of(
        complained=np.array([complained]),
        verdict=np.array([verdict]),
        reason=np.array([REASONS.index(reason)]),
    ).item()


def by_a_loop(complaints, reviews):
    """State after each moment of each id, one row after another."""
    found = {}
    ids = {row[0] for row in complaints} | {row[0] for row in reviews}
    for one_id in ids:
        events = [
            (known, 0, label, None, None) for who, known, label in complaints if who == one_id
        ]
        events += [
            (known, 1, label, reviewer, reason)
            for who, known, label, reviewer, reason in reviews
            if who == one_id
        ]
        for moment in sorted({event[0] for event in events}):
            known = sorted(event[:3] for event in events if event[0] <= moment and event[1] == 0)
            complained = bool(known) and known[-1][2] == 1
            votes, first, is_queued = {}, None, False
            so_far = [event for event in events if event[0] <= moment and event[1] == 1]
            for _, _, label, reviewer, reason in sorted(so_far, key=lambda event: event[:3]):
                first = first or reason
                if label == QUEUED:
                    is_queued = True
                else:
                    votes[reviewer] = label
            said = set(votes.values()) - {0}
            verdict = PENDING if is_queued else UNREVIEWED
            if len(said) == 2:
                verdict = REVIEWERS_DIFFER
            elif votes:
                verdict = {1: 1, -1: 0}[said.pop()] if said else -1
            found[one_id, moment] = state(complained, verdict, first or "score")
    return found
