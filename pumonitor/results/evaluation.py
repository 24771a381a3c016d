"""What an evaluation returns: estimates, class prior, bounds, curves and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pumonitor.plain_values import plain_fields
from pumonitor.results.bounds_and_curves import Bounds, Curve
from pumonitor.results.class_prior import ClassPriorEstimate
from pumonitor.results.estimate import Estimate
from pumonitor.results.label_assumption import LabelAssumption
from pumonitor.results.plain import by_name, frame_of

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray

    from pumonitor.audit.estimates import AuditedEstimates
    from pumonitor.results.sensitivity import Sensitivity
    from pumonitor.reviews.reading import ReviewedEstimates

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnostic that fired: its name, how bad it is, and a sentence for people."""

    name: str
    severity: Literal["note", "warning"]
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Plain JSON types."""
        return plain_fields(self, "name", "severity", "sentence")

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything estimated from one table of scores.

    Attributes
    ----------
    estimates : mapping of str to Estimate
    class_prior : ClassPriorEstimate
    curves : mapping of str to Curve
        ``roc``, ``precision_recall``, ``lift`` and ``<metric>_by_threshold``.
    warnings : tuple of Finding
        The diagnostics that fired.
    bounds : mapping of str to Bounds
        How low and high AUC, average precision and the metrics at the threshold can be for these
        very rows, by the ranks of the confirmed positives alone. None where an audit tests whether
        these are a fair sample.
    scores : mapping
        Histogram of the scores, labeled against unlabeled, for drawing.
    settings : mapping
        How it was computed: threshold, scenario, target, label purity, confidence level, counts.
    at_priors : callable, optional
        What `sensitivity` asks: it keeps the table of scores.
    audit : AuditedEstimates or None
        What the audit says, where one was given: of these very rows an `AuditReading`.
    reviews : ReviewedEstimates or None
        What reviews and complaints say, where reviews were given.
    assumption : LabelAssumption or None
        What is taken for granted of the labels, and how far recall and F1 move if it is wrong; None
        where an audit, reviews, or the user say how labels came about.
    """

    estimates: Mapping[str, Estimate]
    class_prior: ClassPriorEstimate
    curves: Mapping[str, Curve]
    warnings: tuple[Finding, ...]
    scores: Mapping[str, NDArray[np.float64]]
    settings: Mapping[str, Any]
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    at_priors: Callable[[str, Sequence[float] | None], Sensitivity] | None = field(
        default=None, repr=False, compare=False
    )
    audit: AuditedEstimates | None = field(default=None, repr=False, compare=False)
    reviews: ReviewedEstimates | None = field(default=None, repr=False, compare=False)
    assumption: LabelAssumption | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", by_name("estimate", self.estimates))
        object.__setattr__(self, "curves", by_name("curve", self.curves))
        object.__setattr__(self, "bounds", by_name("bounds of", self.bounds))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    @property
    def reading(self) -> AuditedEstimates | ReviewedEstimates | None:
        """What was told of the positives of each score bin: `audit` or `reviews`."""
        return self.reviews if self.audit is None else self.audit

    def sensitivity(self, name: str, *, class_priors: Sequence[float] | None = None) -> Sensitivity:
        """One estimate at other class priors: what if the prior is not what it is taken to be.

        Recall with pure labels, AUL with pure labels and the uncorrected numbers do not depend on
        the prior: they are the same at all.

        Parameters
        ----------
        name : str
            One of `estimates`.
        class_priors : sequence of float, optional
            Priors to look at, in (0, label purity); by default about forty, from the share
            already confirmed to somewhat beyond the prior's interval and what the scores allow.

        Returns
        -------
        Sensitivity

        Raises
        ------
        KeyError
            If there is no such estimate.
        ValueError
            If a prior is out of range, or below the share already confirmed by more than sampling
            explains, or the evaluation was not made by `pumonitor.evaluate`.

        Examples
        --------
        >>> import numpy as np, pumonitor
        >>> rng = np.random.default_rng(1)
        >>> is_positive = rng.random(20_000) < 0.05
        >>> labels = is_positive & (rng.random(20_000) < 0.3)
        >>> ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), class_prior=0.05)
        >>> swept = ev.sensitivity("precision")
        >>> bool((np.diff(swept.value) > 0).all())
        True
        """
        self[name]  # says what there is instead
        if self.reading is not None:
            is_audit = self.reading.kind == "audit"
            told, by = ("an audit says", "the audit") if is_audit else ("reviews say", "reviews")
            msg = (
                f"the class prior of this evaluation is what {told}, together with all other "
                f"estimates: evaluate without {by} to ask for other class priors"
            )
            raise ValueError(msg)
        if self.at_priors is None:
            msg = (
                "this evaluation does not hold the scores it was made of: evaluate them again "
                "with pumonitor.evaluate to ask for other class priors"
            )
            raise ValueError(msg)
        return self.at_priors(name, class_priors)

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {self.settings['n_labeled']} labeled and "
            f"{self.settings['n_unlabeled']} unlabeled rows: {len(self.estimates)} estimates, "
            f"{len(self.warnings)} warnings; print it, or see .estimates, .to_frame()>"
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole evaluation as plain JSON types, with a ``schema_version``."""
        names = (
            "assumption",
            "settings",
            "class_prior",
            "estimates",
            "bounds",
            "warnings",
            "curves",
        )
        told = () if self.reading is None else (self.reading.kind,)
        return {"schema_version": SCHEMA_VERSION} | plain_fields(self, *names, *told)

    def to_frame(self) -> pandas.DataFrame:
        """One row per estimate, as a pandas data frame indexed by metric name."""
        return frame_of([one.to_dict() for one in self.estimates.values()], index="name")

    def __str__(self) -> str:
        lines = [] if self.assumption is None else [str(self.assumption)]
        return "\n".join([*lines, *map(str, self.estimates.values())])
