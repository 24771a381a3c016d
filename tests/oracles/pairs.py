"""Metrics by counting pairs and rows one at a time."""

from __future__ import annotations

from collections.abc import Sequence


def win(a: float, b: float) -> float:
    return 1.0 if a > b else 0.5 if a == b else 0.0


def mean_win(above: Sequence[float], below: Sequence[float]) -> float:
    return sum(win(a, b) for a in above for b in below) / (len(above) * len(below))


def auc(is_positive: Sequence[bool], scores: Sequence[float]) -> float:
    pairs = list(zip(is_positive, scores, strict=True))
    return mean_win([s for y, s in pairs if y], [s for y, s in pairs if not y])


def aul(is_positive: Sequence[bool], scores: Sequence[float]) -> float:
    pairs = list(zip(is_positive, scores, strict=True))
    return mean_win([s for y, s in pairs if y], list(scores))


def average_precision(is_positive: Sequence[bool], scores: Sequence[float]) -> float:
    pairs = list(zip(is_positive, scores, strict=True))
    total = 0.0
    for y, s in pairs:
        if y:
            above = [other for other, score in pairs if score >= s]
            total += sum(above) / len(above)
    return total / sum(is_positive)


def table_at(
    is_positive: Sequence[bool], scores: Sequence[float], threshold: float
) -> tuple[int, int, int, int]:
    """True positives, false positives, false negatives, true negatives."""
    counts = [0, 0, 0, 0]
    for y, s in zip(is_positive, scores, strict=True):
        flagged = s >= threshold
        counts[(0 if y else 1) if flagged else (2 if y else 3)] += 1
    return counts[0], counts[1], counts[2], counts[3]
