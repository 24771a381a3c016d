"""The plan of an audit: cases by score bin, and how sure they will make the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.frequency import FAIR, UNKNOWN
from pumonitor.audit.planning import widths_by_cases
from pumonitor.audit.verdicts import Fair
from pumonitor.plain_values import plain_fields
from pumonitor.results import ClassPriorEstimate
from pumonitor.text import number_text

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditPlan:
    """How many cases to draw from each score bin, and how sure that will make the metrics.

    Attributes
    ----------
    cases : int
    threshold : float
    metrics : tuple of str
        Those the cases are spread for.
    widths : mapping of str to float
        Expected width of the 95% interval of each, read together with the confirmations: the median
        of simulated audits, over what today's class prior can be and how labels may be unfair.
    high_widths : mapping of str to float
        Wider than that are one in ten of them.
    simple_widths : mapping of str to float
        The same of as many cases drawn from all rows alike and read alone.
    class_prior : ClassPriorEstimate
        Today's estimate, which the plan rests on.
    fair : {"check", "assume"}
        How the audit is meant to be read.
    bins : ScoreBins
    planned : tuple of int
        Cases by bin.
    label_frequency : float
        Share of the positives confirmed, as the plan takes it.
    above : float or None
        Share of the cases at or above the threshold, where that was asked for.
    free_widths : mapping of str to float or None
        Expected widths of as many cases on either side as the metrics want them, where `above` was
        asked for.
    """

    cases: int
    threshold: float
    metrics: tuple[str, ...]
    widths: Mapping[str, float]
    high_widths: Mapping[str, float]
    simple_widths: Mapping[str, float]
    class_prior: ClassPriorEstimate
    fair: Fair
    bins: ScoreBins
    planned: tuple[int, ...]
    label_frequency: float
    above: float | None = None
    free_widths: Mapping[str, float] | None = None

    def by_bin(self) -> list[dict[str, Any]]:
        """One mapping a score bin, from the lowest scores."""
        lower = [None, *self.bins.edges.tolist()]
        return [
            {
                "from": lower[at],
                "above": bool(self.bins.above[at]),
                "rows": int(self.bins.rows[at]),
                "labeled": int(self.bins.labeled[at]),
                "cases": cases,
            }
            for at, cases in enumerate(self.planned)
        ]

    def widths_by_cases(self) -> list[dict[str, Any]]:
        """Expected widths of audits from a quarter to four times as large, for a chart."""
        return widths_by_cases(
            self.bins,
            cases=[max(round(self.cases * times), 10) for times in (0.25, 0.5, 1, 2, 4)],
            label_frequency=self.label_frequency,
            metrics=self.metrics,
            believed=FAIR if self.fair == "assume" else UNKNOWN,
            above=self.above,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        asked = ("cases", "threshold", "metrics", "fair", "above")
        expected = ("widths", "high_widths", "free_widths", "simple_widths", "class_prior")
        return plain_fields(self, *asked, *expected) | {"bins": self.by_bin()}

    def to_frame(self) -> pandas.DataFrame:
        """One row per score bin, as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.by_bin())

    def __str__(self) -> str:
        lines = [f"{self.cases} cases, threshold {self.threshold:g}"]
        lines += [
            f"{name} 95% interval about {number_text(self.widths[name])} wide, in one of ten "
            f"audits above {number_text(self.high_widths[name])} "
            f"({number_text(self.simple_widths[name])} by a simple audit)"
            for name in self.metrics
        ]
        return "\n".join(lines)
