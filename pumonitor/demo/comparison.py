"""Estimates beside the truth and beside the number one gets without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pumonitor.demo.emails import THRESHOLD
from pumonitor.demo.truth import COMPARED, metrics_of

if TYPE_CHECKING:
    import pandas

    from pumonitor.demo.tracking import LoggedEvaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One metric: without correction, as estimated in each evaluation, and in truth.

    `estimates` are (value, low, high), in the order of the evaluations; `uncorrected` counts
    every mail that was not reported as good.
    """

    name: str
    uncorrected: float
    estimates: tuple[tuple[float, float, float], ...]
    truth: float

    @property
    def holds(self) -> tuple[bool, ...]:
        """Whether the interval of each evaluation holds the truth."""
        return tuple(low <= self.truth <= high for _, low, high in self.estimates)


def compare(frame: pandas.DataFrame, *evaluations: LoggedEvaluation) -> list[Comparison]:
    """Compare the share of spam and every metric of `COMPARED`."""
    truth = metrics_of(frame["spam"], frame["score"], threshold=THRESHOLD)
    naive = metrics_of(frame["reported"], frame["score"], threshold=THRESHOLD)
    truth["class_prior"] = float(frame["spam"].mean())
    naive["class_prior"] = float(frame["reported"].mean())
    return [
        Comparison(
            name=name,
            uncorrected=naive[name],
            estimates=tuple(evaluation.estimate(name) for evaluation in evaluations),
            truth=truth[name],
        )
        for name in ("class_prior", *COMPARED)
    ]
