"""Labels from several sources: whether the sources confirm the same kind of positives."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.shift_test import LEVEL
from pumonitor.results import Finding
from pumonitor.text import number_text, percent_text

_FEWEST = 5
_MATERIAL = 0.05
_LOWEST = (0.05, 0.15)


def different_label_sources(
    label_sources: Mapping[str, FloatArray] | None,
) -> list[Finding]:
    """Warnings when labeled rows of different sources differ in score.

    If every source is a fair sample of the positives, their scores have one distribution:
    Kruskal-Wallis test at level 0.001 (Mann-Whitney for two) over sources of at least five rows,
    and the chance that a row of one outscores a row of the other at least 0.05 from one half.
    Where that is silent, the lowest 5% and 15% of the labeled rows are looked at by themselves,
    since mistaken confirmations are few and low: a source that holds more of them than its part
    (hypergeometric test at level 0.001 over sources and both shares; 5% of its rows more).
    Sources that are unfair in the same way look alike, which nothing here shows.

    Parameters
    ----------
    label_sources : mapping of str to ndarray, or None
        Scores of the labeled rows by source.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = different_label_sources(
    ...     {"complaints": rng.normal(size=200), "review": rng.normal(1.0, size=100)})
    >>> print(found[0].sentence[:76])
    Confirmed positives from review score higher than those from complaints (a ...
    """
    if label_sources is None:
        return []
    kept = {
        name: np.asarray(scores, dtype=np.float64)
        for name, scores in label_sources.items()
        if len(scores) >= _FEWEST
    }
    if len(kept) < 2:
        return []
    if _same_scores(list(kept.values())) >= LEVEL:
        return _low_scores(kept)
    pairs = {
        (first, second): chance_of_higher(kept[first], kept[second])
        for first, second in itertools.permutations(kept, 2)
    }
    (higher, lower), chance = max(pairs.items(), key=lambda item: item[1])
    if chance < 0.5 + _MATERIAL:
        return _low_scores(kept)
    return [
        Finding(
            name="different_label_sources",
            severity="warning",
            sentence=(
                f"Confirmed positives from {higher} score higher than those from {lower} (a row of "
                f"the first outscores one of the second in {percent_text(chance)} of pairs; "
                f"{len(kept[higher])} and {len(kept[lower])} rows): at most one of them is a fair "
                "sample of the positives. Evaluate with the one that does not depend on the score, "
                "or give propensities."
            ),
        )
    ]


def _low_scores(sources: Mapping[str, FloatArray]) -> list[Finding]:
    """One source that holds more of the lowest labeled rows than chance would give it."""
    from scipy import stats  # it takes longest of all to be imported

    everything = np.sort(np.concatenate(list(sources.values())))
    rows, tests = len(everything), len(_LOWEST) * len(sources)
    found = []
    for lowest, (name, scores) in itertools.product(_LOWEST, sources.items()):
        limit = everything[max(round(lowest * rows), 1) - 1]
        low, own = int((everything <= limit).sum()), int((scores <= limit).sum())
        others = (low - own) / (rows - len(scores))
        chance = float(stats.hypergeom.sf(own - 1, rows, low, len(scores)))
        if chance < LEVEL / tests and own / len(scores) - others >= _MATERIAL:
            found.append((chance, name, limit, own / len(scores), others))
    if not found:
        return []
    _, name, limit, own_share, others_share = min(found)
    return [
        Finding(
            name="low_scores_of_one_source",
            severity="warning",
            sentence=(
                f"{percent_text(own_share)} of the confirmed positives from {name} score at most "
                f"{number_text(limit)}, of those from elsewhere {percent_text(others_share)}: "
                f"{name} confirms some by mistake, or finds positives that the others miss. Check "
                "its low-scoring confirmations by hand."
            ),
        )
    ]


def chance_of_higher(first: FloatArray, second: FloatArray) -> float:
    """P(a row of the first scores higher than one of the second), ties one half.

    Examples
    --------
    >>> chance_of_higher(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    ranks = _mid_ranks(np.concatenate([first, second]))
    wins = float(ranks[: len(first)].sum()) - 0.5 * len(first) * (len(first) + 1)
    return wins / (len(first) * len(second))


def _mid_ranks(scores: FloatArray) -> FloatArray:
    """Ranks from 1 on; equal scores share the mean of theirs."""
    ordered = np.sort(scores)
    below, up_to = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return np.asarray((below + up_to + 1) / 2)


def _same_scores(sources: list[FloatArray]) -> float:
    """p-value of the Kruskal-Wallis test; 1 when all scores are one value."""
    everything = np.concatenate(sources)
    ranks = _mid_ranks(everything)
    # Variance of the ranks as they are, ties included.
    variance = float(np.var(ranks, ddof=1))
    if variance == 0:
        return 1.0
    ends = np.cumsum([len(scores) for scores in sources])[:-1]
    statistic = sum(
        len(part) * (float(part.mean()) - float(ranks.mean())) ** 2
        for part in np.split(ranks, ends)
    )
    return float(special.chdtrc(len(sources) - 1, statistic / variance))
