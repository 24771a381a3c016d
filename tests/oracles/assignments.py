"""Claesen bounds by trying every assignment of hidden positives to unlabeled rows."""

import itertools


def feasible(states, *, hidden, low, high):
    """All assignments whose count of hidden positives stays within [low, high] at every rank.

    `states` is "L", "U" or "N" from the highest rank down; low and high are the fewest and most
    hidden positives allowed among the first r rows, for r = 0..n. Yields tuples of classes.
    """
    unlabeled = [rank for rank, state in enumerate(states) if state == "U"]
    for chosen in itertools.combinations(unlabeled, hidden):
        picked = set(chosen)
        counts = [sum(rank < r for rank in chosen) for r in range(len(states) + 1)]
        if all(a <= count <= b for a, count, b in zip(low, counts, high, strict=True)):
            yield tuple(state == "L" or rank in picked for rank, state in enumerate(states))


def surrogate_counts(states, *, hidden, share_low, share_high):
    """Head counts of surrogate positives at each rank by equations 10 to 13, one rank at a time."""
    import math

    low, high = [], []
    rows = states.count("U")
    for r in range(len(states) + 1):
        head = states[:r].count("U")
        tail = rows - head
        for target, share, rounded in ((low, share_low, math.floor), (high, share_high, math.ceil)):
            theta = rounded(round(share[r] * hidden, 9))
            count = min(head, theta) if hidden - theta <= tail else hidden - tail
            target.append(count)
    return low, high
