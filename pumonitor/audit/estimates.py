"""What an audit makes of an evaluation: its estimates and its class prior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal

from pumonitor.audit.fairness import Fairness
from pumonitor.audit.findings import unfair_labels
from pumonitor.audit.posterior import AuditPosterior, PositivesByBin
from pumonitor.audit.verdicts import Fair
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.stats.quantiles import quantiles

Method = Literal["audit", "audit carried", "reviews"]
"""Of estimates: from verdicts on these very rows, carried from those on others, from a queue."""

Kind = Literal["audit", "reviews"]

AUDITED: Final = (
    "class_prior",
    "unlabeled_prior",
    "label_frequency",
    "aul",
    "auc",
    "recall",
    "precision",
    "specificity",
    "f1",
    "f_beta",
    "ll_score",
    "accuracy",
    "balanced_accuracy",
    "mcc",
)
"""Estimates that an audit gives by its score bins."""

AUDITED_ROWS: Final = (
    "average_precision",
    *(
        f"{name}_max{end}"
        for name in ("f1", "balanced_accuracy", "mcc", "accuracy")
        for end in ("", "_threshold")
    ),
    "precision_at_k",
    "recall_at_k",
    "lift_at_k",
)
"""Those that also need the rows inside the bins (`pumonitor.audited_curves`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatesByBin(ABC):
    """What draws of the positives of each score bin say of a table of scores.

    Attributes
    ----------
    kind : {"audit", "reviews"}
        What the verdicts are of: cases drawn by chance, or those of a queue.
    name : str
        Of where the verdicts come from.
    posterior : PositivesByBin
        Draws of positives and of the label frequency by score bin.
    method : {"audit", "audit carried", "reviews"}
        Where the verdicts come from, and whether there are any on these very rows.
    confidence_level : float
    f_beta : float
        beta of `f_beta`.
    undecided : mapping of str to (float, float)
        Where cases are undecided: the interval of each estimate when the odds that an undecided
        case is positive are from a quarter to four times those of a decided one of its bin.
    """

    kind: ClassVar[Kind]
    name: str
    posterior: PositivesByBin
    method: Method = "audit"
    confidence_level: float = 0.95
    f_beta: float = 2.0
    undecided: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """By name, those of `AUDITED`; intervals are about these very rows."""
        found = self.posterior.estimates(
            method=self.method, confidence_level=self.confidence_level, beta=self.f_beta
        )
        return {name: found[name] for name in AUDITED}

    @property
    def posteriors(self) -> tuple[PositivesByBin, ...]:
        """Draws by each way of reading what was found, the likeliest first."""
        return (self.posterior,)

    @property
    def class_prior(self) -> ClassPriorEstimate:
        """With its interval and what goes with it."""
        found = self.estimates
        prior, hidden, frequency = (
            found[name] for name in ("class_prior", "unlabeled_prior", "label_frequency")
        )
        return ClassPriorEstimate(
            value=prior.value,
            low=prior.low,
            high=prior.high,
            unlabeled_prior=hidden.value,
            label_frequency=frequency.value,
            method=self.method,
            confidence_level=self.confidence_level,
            diagnostics=self.origin,
            unlabeled_prior_interval=(hidden.low, hidden.high),
            label_frequency_interval=(frequency.low, frequency.high),
        )

    @property
    def origin(self) -> Mapping[str, str]:
        """What the class prior was made with."""
        return {self.kind: self.name}

    @property
    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful."""

    @property
    @abstractmethod
    def is_fair(self) -> bool:
        """Whether confirmed positives were taken for a fair sample of all positives."""

    @property
    @abstractmethod
    def known_parts(self) -> Mapping[str, str]:
        """Headings of the kinds of known positives, and the keys of `by_bin` that count them."""

    @abstractmethod
    def counted(self) -> list[dict[str, int]]:
        """What was counted of each score bin, beside its rows."""

    def by_bin(self) -> list[dict[str, Any]]:
        """One mapping a score bin, from the lowest scores: counts and what is estimated there.

        ``positives`` are those among the rows, ``frequency`` is the share of them confirmed, each
        with its interval.
        """
        bins = self.posterior.bins
        tail = 0.5 * (1 - self.confidence_level)
        levels = [tail, 0.5, 1 - tail]
        lower = [None, *bins.edges.tolist()]
        found: list[dict[str, Any]] = []
        for at, counted in enumerate(self.counted()):
            row: dict[str, Any] = {
                "from": lower[at],
                "above": bool(bins.above[at]),
                "rows": int(bins.rows[at]),
                "labeled": int(bins.labeled[at]),
                **counted,
            }
            drawn = {"positives": self.posterior.positives, "frequency": self.posterior.e}
            for name, values in drawn.items():
                low, value, high = quantiles(values[:, at], levels)
                row |= {f"{name}_low": float(low), name: float(value), f"{name}_high": float(high)}
            found.append(row)
        return found

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditedEstimates(EstimatesByBin):
    """What an audit says of a table of scores.

    Attributes
    ----------
    fair : {"check", "assume"}
        Whether confirmed positives were taken for a fair sample of all positives.
    fairness : Fairness or None
        The test of fair labels, where it has been made.
    """

    kind: ClassVar[Kind] = "audit"
    posterior: AuditPosterior
    fair: Fair = "check"
    fairness: Fairness | None = None

    @property
    def is_fair(self) -> bool:
        """Whether confirmed positives were taken for a fair sample of all positives."""
        return self.fair == "assume"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about the audit."""
        return () if self.fairness is None else tuple(unfair_labels(self.fair, self.fairness))

    @property
    def known_parts(self) -> Mapping[str, str]:
        """Confirmed, or found by the audit."""
        return {"Confirmed": "labeled", "Found by the audit": "positive"}

    @property
    def drawn(self) -> Sequence[int]:
        """Cases with a verdict or undecided, by bin."""
        counts = self.posterior.counts
        both: list[int] = (counts.decided + counts.undecided).tolist()
        return both

    def counted(self) -> list[dict[str, int]]:
        """Cases drawn, and the verdicts on them."""
        counts = self.posterior.counts
        return [
            {
                "drawn": int(drawn),
                "decided": int(decided),
                "positive": int(positive),
                "undecided": int(undecided),
            }
            for drawn, decided, positive, undecided in zip(
                self.drawn, counts.decided, counts.positive, counts.undecided, strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        counts = self.posterior.counts
        return {
            "audit": self.name,
            "method": self.method,
            "audited": [*AUDITED, *AUDITED_ROWS],
            "target": "window",
            "decided": int(counts.decided.sum()),
            "positive": int(counts.positive.sum()),
            "undecided": int(counts.undecided.sum()),
        }


def widest(readings: Sequence[Mapping[str, Estimate]]) -> dict[str, Estimate]:
    """The estimates of the first reading, with intervals that hold by each of them.

    Examples
    --------
    >>> one = Estimate(name="f1", value=0.5, low=0.4, high=0.6, confidence_level=0.95, method="",
    ...                n_labeled=9, n_unlabeled=9)
    >>> print(widest([{"f1": one}, {"f1": replace(one, value=0.3, low=0.2, high=0.5)}])["f1"])
    f1 0.500 (0.200 to 0.600)
    """
    first, *others = readings
    return {
        name: replace(
            estimate,
            low=min(estimate.low, *(other[name].low for other in others)),
            high=max(estimate.high, *(other[name].high for other in others)),
        )
        if others and all(reading[name].undefined_reason is None for reading in readings)
        else estimate
        for name, estimate in first.items()
    }


def audited(estimates: Mapping[str, Estimate], reading: EstimatesByBin) -> dict[str, Estimate]:
    """Estimates with those of the audit in their places."""
    found = reading.estimates
    return {
        name: replace(found[name], range=one.range) if name in found else one
        for name, one in estimates.items()
    }


def check_goes_with_audit(
    *,
    class_prior: object,
    scenario: str,
    label_purity: object,
    auxiliary: object,
) -> None:
    """Refuse settings that an audit says itself, and those that its likelihood does not know.

    Raises
    ------
    ValueError
        If there is one of them.
    """
    given = {
        "class_prior": not (isinstance(class_prior, str) and class_prior == "auto"),
        "auxiliary": auxiliary is not None,
    }
    for name, wrong in given.items():
        if wrong:
            msg = f"the audit says how many positives there are: leave out {name}, or audit"
            raise ValueError(msg)
    if scenario != "single-training-set" or label_purity != 1.0:
        msg = (
            "an audit is read in the single-training-set scenario with a label_purity of 1, got "
            f"{scenario!r} and {label_purity!r}"
        )
        raise ValueError(msg)
