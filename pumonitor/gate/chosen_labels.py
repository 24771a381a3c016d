"""Labels that one of the models chose: then they say nothing of which is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scipy import stats

from pumonitor.diagnostics.review_cut import ReviewCut, review_cut
from pumonitor.gate.paired_labels import PairedLabels
from pumonitor.gate.score_counts import ScoreCounts
from pumonitor.text import number_text, percent_text, times_text

_LEVEL: Final = 0.01
"""Of each test: a gate that asks for an audit in vain does less harm than one that is fooled."""
_BENT_LEVEL: Final = 0.1
"""Likewise: labels that fade along a bent line are let pass only where it explains them well."""
_BENT_LEVEL_OF_RANKS: Final = 0.01
"""Lower where windows meet at equal ranks: their bends differ where their class priors do."""
_PARTS: Final = (1.0, 0.5, 0.25, 0.125, 0.0625)
"""Of the capacity: highest rows that are asked whether they can hold so many positives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenBy:
    """Why labels cannot judge between the models.

    Attributes
    ----------
    model : str
        "champion" or "challenger".
    sentence : str
        What was seen.
    may_be_leak : bool
        Whether the challenger found more positives than its highest rows can hold. Then it may
        have been given what was known only afterwards, and finds what is confirmed.
    """

    model: str
    sentence: str
    may_be_leak: bool = False


def chosen_by(
    windows: Sequence[PairedLabels],
    *,
    capacity: float,
    threshold: float | None = None,
    least_class_prior: float | None = None,
) -> ChosenBy | None:
    """The model whose scores seem to have decided which rows were reviewed, over all windows.

    Confirmed positives become rarer from one row to the next where review stops
    (`pumonitor.diagnostics.review_cut`), at the champion's threshold, at the capacity of either
    model, or anywhere else: at one score in all windows, or at one rank of each. And no model can
    have a share of the positives among its highest rows that is more than these rows are. Wrong
    where positives themselves stop at a score, and blind to a choice that fades slowly with the
    score.

    Parameters
    ----------
    windows : sequence of PairedLabels
    capacity : float
    threshold : float, optional
        The champion's.
    least_class_prior : float, optional
        Lower end of the interval of the share of positives.
    """
    choices = []
    for model in ("champion", "challenger"):
        seen = [window.counts[model] for window in windows if window.counts]
        together = ScoreCounts.together(seen)
        for counts, bent_level in (
            (together, _BENT_LEVEL),
            (ScoreCounts.at_equal_ranks(seen), _BENT_LEVEL_OF_RANKS),
        ):
            cut = _cut(counts, capacity, threshold if model == "champion" else None, bent_level)
            if cut is not None:
                choices.append((cut.p_value, ChosenBy(model=model, sentence=_said(model, cut))))
        if together is not None and least_class_prior is not None:
            choices += _impossible(model, together, capacity, least_class_prior)
    return min(choices, key=lambda choice: choice[0])[1] if choices else None


def _impossible(
    model: str, counts: ScoreCounts, capacity: float, least_class_prior: float
) -> list[tuple[float, ChosenBy]]:
    """Highest rows with more of the confirmed positives than they can hold of all positives."""
    choices = []
    labels = int(counts.labeled.sum())
    for part in _PARTS:
        inside, share = counts.above(part * capacity)
        most = share / least_class_prior
        p_value = float(stats.binom.sf(inside - 1, labels, most)) if most < 1 else 1.0
        if p_value >= _LEVEL / len(_PARTS):
            continue
        sentence = (
            f"{inside} of {labels} confirmed positives are among the {model}'s highest "
            f"{percent_text(share)} of rows, which cannot hold more than {percent_text(most)} of "
            f"the positives (a class prior of {number_text(least_class_prior)} at least)"
        )
        chosen = ChosenBy(model=model, sentence=sentence, may_be_leak=model == "challenger")
        choices.append((p_value, chosen))
    return choices


def _cut(
    counts: ScoreCounts | None, capacity: float, threshold: float | None, bent_level: float
) -> ReviewCut | None:
    table = None if counts is None else counts.table()
    if counts is None or table is None:
        return None
    at = [one for one in (counts.cut(capacity), threshold) if one is not None]
    return review_cut(table, thresholds=at, level=_LEVEL, bent_level=bent_level)


def _said(model: str, cut: ReviewCut) -> str:
    rarer = "there are none" if cut.ratio > 100 else f"they are {times_text(cut.ratio)} as rare"
    return (
        f"confirmed positives stop at a score of the {model} (its highest "
        f"{percent_text(cut.share)} of rows): right below, {rarer}"
    )
