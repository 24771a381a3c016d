"""Reviews of one model's highest rows that labels do not rule out, and what holds under each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.review_ruled_out import (
    SHARES_BELOW,
    LabelsByRank,
    evidence_against_reviews,
    review_depths,
)
from pumonitor.gate.labels_needed import rounded_labels
from pumonitor.gate.mean_evidence import MeanEvidence
from pumonitor.gate.paired_labels import MODELS, GateMetric, PairedLabels
from pumonitor.gate.score_counts import ScoreCounts
from pumonitor.text import percent_text

_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A review that labels may come from.

    Attributes
    ----------
    model : str
        "champion" or "challenger": whose highest rows were looked at.
    depth : float
        Share of the rows that it reached.
    share_below : float
        Of the other rows, the share that was looked at too.
    labels_needed : int or None
        How many labels in all would rule it out, if they are as those at hand; None if these do not
        speak against it.
    """

    model: str
    depth: float
    share_below: float
    labels_needed: int | None

    @property
    def sentence(self) -> str:
        """What is not known, and what would tell."""
        text = (
            f"it is not ruled out that mainly the {self.model}'s highest "
            f"{percent_text(self.depth)} of rows were reviewed, and at most "
            f"{percent_text(self.share_below)} of the others, which favours that model"
        )
        if self.labels_needed is not None:
            text += f"; some {self.labels_needed:,} labels in all would rule it out"
        return (
            f"{text}; an audit between the two models (pumonitor audit draw MONITOR --between "
            "champion CHALLENGER) decides whoever was reviewed"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PossibleReviews:
    """What labels of all windows say against reviews of either model's highest rows.

    A verdict counts if it holds under every one of these reviews that is not ruled out: had it been
    made, labels below its depth would stand for the more positives, the fewer were looked at there.

    Attributes
    ----------
    windows : tuple of PairedLabels
        Those with propensities say how their labels were chosen, and count as they are.
    depths : ndarray of float, shape (depths,)
    evidence : mapping of str to ndarray of float, shape (depths, shares)
        Logarithm of the evidence against each, by model. Empty where all labels have propensities.
    """

    windows: tuple[PairedLabels, ...]
    depths: FloatArray
    evidence: Mapping[str, FloatArray]

    @classmethod
    def of(cls, windows: Sequence[PairedLabels], *, capacity: float) -> PossibleReviews:
        """Of all windows; depths lie around the capacity."""
        depths = review_depths(capacity)
        counted = [window for window in windows if window.counts]
        labels = sum(window.positives for window in counted)
        # Positives of one entity are one unit, and say no more than one.
        units = sum(len(window.weights) for window in counted) / max(labels, 1)
        return cls(
            windows=tuple(windows),
            depths=depths,
            evidence={
                model: units
                * evidence_against_reviews(
                    [_by_rank(window.counts[model]) for window in counted], depths
                )
                for model in MODELS
            }
            if counted
            else {},
        )

    def are_ruled_out(self, *, error: float) -> bool:
        """Whether labels speak against each of them by themselves."""
        return all(bool((logs >= _enough(error)).all()) for logs in self.evidence.values())

    def undecided(
        self, metric: GateMetric, *, above: float, error: float, is_reversed: bool = False
    ) -> Review | None:
        """A review under which it is not sure that a difference is above a value.

        Parameters
        ----------
        metric : str
        above : float
        error : float
            Probability that the answer is None at any time, though there is such a review and the
            difference is not above the value.
        is_reversed : bool
            Whether it is asked of the champion less the challenger.
        """
        enough = _enough(error)
        for model, logs in self.evidence.items():
            for depth, share in np.argwhere(logs < enough):
                at, below = float(self.depths[depth]), SHARES_BELOW[share]
                evidence = self._reweighted(metric, model, depth=at, share_below=below)
                if is_reversed:
                    evidence = evidence.reversed()
                # The smallest share stands for all below it: of rows that nobody looked at nothing
                # can be known, so it has to be ruled out.
                if share == 0 or np.log(max(evidence.capital(above), 1e-300)) < enough:
                    return Review(
                        model=model,
                        depth=at,
                        share_below=below,
                        labels_needed=self._needed(float(logs[depth, share]), enough),
                    )
        return None

    def _reweighted(
        self, metric: GateMetric, model: str, *, depth: float, share_below: float
    ) -> MeanEvidence:
        """The differences, had there been such a review: fewer positives were confirmed below."""
        ranked = [
            window
            for window in self.windows
            if not window.counts or len(window.champion_below) == len(window.weights)
        ]
        return MeanEvidence.of(
            [window.differences(metric) for window in ranked],
            [
                np.where(window.share_below(model) >= 1 - depth, 1.0, 1 / share_below)
                if window.counts
                else window.weights
                for window in ranked
            ],
            largest_weight=max([1 / share_below, *(window.largest_weight for window in ranked)]),
        )

    def _needed(self, evidence: float, enough: float) -> int | None:
        labels = sum(window.positives for window in self.windows)
        # One unit of evidence is what the mean over all bets costs at the least.
        if evidence <= 1:
            return None
        number = labels * enough / evidence
        return rounded_labels(number) if number <= _MOST else None


def _enough(error: float) -> float:
    """Half of the error is for ruling a review out, half for what holds under it."""
    return float(np.log(2 / error))


def _by_rank(counts: ScoreCounts) -> LabelsByRank:
    return LabelsByRank.from_cells(
        counts.unlabeled + counts.labeled + counts.negative, counts.labeled
    )
