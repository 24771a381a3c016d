"""What an evaluation returns: estimates with intervals, curves with bands, the class prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import if_percent, no_such

if TYPE_CHECKING:
    import pandas

    from pumonitor.sensitivity.result import Sensitivity

__all__ = [
    "Bounds",
    "ClassPriorEstimate",
    "Curve",
    "Estimate",
    "Evaluation",
    "Finding",
    "Scenario",
    "Target",
    "by_name",
    "finite_or_none",
    "frame_of",
]

Scenario = Literal["single-training-set", "case-control"]
Target = Literal["process", "window"]
SCHEMA_VERSION = 1
T = TypeVar("T")


def finite_or_none(value: float) -> float | None:
    """The value for JSON, which has no NaN."""
    return float(value) if math.isfinite(value) else None


def frame_of(
    data: Sequence[Mapping[str, Any]] | Mapping[str, NDArray[Any]], *, index: str
) -> pandas.DataFrame:
    """A pandas data frame of rows or columns; pandas is loaded when one is asked for."""
    import pandas

    return pandas.DataFrame(data).set_index(index)


class _ByName(dict[str, T]):
    """What there is by name; asked for anything else, it says what there is."""

    def __init__(self, what: str, items: Mapping[str, T]) -> None:
        super().__init__(items)
        self.what = what

    def __missing__(self, name: str) -> T:
        raise KeyError(no_such(self.what, name, self))


def by_name(what: str, items: Mapping[str, T]) -> Mapping[str, T]:
    """The items, read-only, with a KeyError that names them.

    Examples
    --------
    >>> by_name("curve", {"roc": 1, "lift": 2})["rok"]
    Traceback (most recent call last):
    ...
    KeyError: "no curve 'rok'; did you mean 'roc'? (there are roc, lift)"
    """
    return MappingProxyType(_ByName(what, items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number with its uncertainty.

    Attributes
    ----------
    name : str
        The metric, for example ``"f1"``.
    value, low, high : float
        Point estimate and interval at `confidence_level`; NaN when undefined. They are kept as
        estimated even outside the metric's range (`infeasible` is then True): a precision of 1.2
        is evidence against the class prior or against labels being a fair sample of the positives.
    se : float
        Standard error from sampling and the class prior together.
    se_sampling, se_prior : float
        The two parts of it, each with the other source of uncertainty held fixed.
    prior_bias : float
        By how much the value is too high, on average, because the class prior is uncertain and
        the metric is curved in it (Jensen's inequality; Tabatabaei et al. 2020, section 4.3).
    confidence_level : float
        Nominal coverage of the interval.
    method : str
        How the interval was made.
    n_labeled, n_unlabeled : int
        Rows the estimate rests on.
    range : tuple of float
        The values the metric can take.
    undefined_reason : str or None
        Why there is no value, in words.
    unconstrained_value : float or None
        The estimate before it was held to what is possible, where `value` has been.
    infeasible : bool
        Whether `value`, or `unconstrained_value` where there is one, lies outside `range`.

    Examples
    --------
    >>> estimate = Estimate(name="precision", value=1.04, low=0.91, high=1.2,
    ...                     confidence_level=0.95, method="draws", n_labeled=50, n_unlabeled=900,
    ...                     range=(0.0, 1.0))
    >>> estimate.infeasible, estimate.displayed
    (True, (1.0, 0.91, 1.0))
    """

    name: str
    value: float
    low: float
    high: float
    confidence_level: float
    method: str
    n_labeled: int
    n_unlabeled: int
    se: float = math.nan
    se_sampling: float = math.nan
    se_prior: float = math.nan
    prior_bias: float = 0.0
    range: tuple[float, float] = (0.0, 1.0)
    undefined_reason: str | None = None
    unconstrained_value: float | None = None

    @property
    def came_out(self) -> float:
        """The estimate as it came out, before it was held to what is possible, if it was."""
        return self.value if self.unconstrained_value is None else self.unconstrained_value

    @property
    def infeasible(self) -> bool:
        """Whether the estimate came out outside what the metric can be (beyond rounding)."""
        low, high = self.range
        return self.came_out < low - 1e-12 or self.came_out > high + 1e-12

    @property
    def surely_impossible(self) -> bool:
        """Whether the whole interval lies outside the range: more than sampling explains.

        Where the value was held to what is possible its interval was too, and the standard error
        tells how far the estimate came out beyond.
        """
        low, high = self.range
        if self.unconstrained_value is None:
            return self.infeasible and (self.low > high or self.high < low)
        beyond = max(low - self.came_out, self.came_out - high)
        reach = NormalDist().inv_cdf(0.5 + 0.5 * self.confidence_level)
        return self.infeasible and beyond > reach * self.se

    @property
    def displayed(self) -> tuple[float, float, float]:
        """Value, low and high clipped to the metric's range: what people are shown."""
        low, high = self.range
        return (
            float(min(max(self.value, low), high)),
            float(min(max(self.low, low), high)),
            float(min(max(self.high, low), high)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; an undefined value is None, never NaN."""
        return {
            "name": self.name,
            "value": finite_or_none(self.value),
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "se": finite_or_none(self.se),
            "se_sampling": finite_or_none(self.se_sampling),
            "se_prior": finite_or_none(self.se_prior),
            "prior_bias": finite_or_none(self.prior_bias),
            "confidence_level": self.confidence_level,
            "method": self.method,
            "n_labeled": self.n_labeled,
            "n_unlabeled": self.n_unlabeled,
            "undefined_reason": self.undefined_reason,
            "unconstrained_value": self.unconstrained_value,
            "infeasible": self.infeasible,
        }

    def __str__(self) -> str:
        if self.undefined_reason is not None:
            return f"{self.name} undefined: {self.undefined_reason}"
        value, low, high = self.displayed
        note = " (infeasible)" if self.infeasible else ""
        return f"{self.name} {value:.4f} [{low:.4f}, {high:.4f}]{note}"


def undefined(
    name: str, reason: str, *, confidence_level: float, n_labeled: int, n_unlabeled: int
) -> Estimate:
    """An estimate without a value, with the reason."""
    return Estimate(
        name=name,
        value=math.nan,
        low=math.nan,
        high=math.nan,
        confidence_level=confidence_level,
        method="none",
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        undefined_reason=reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPriorEstimate:
    """The share of positives in the monitored population, P(y = 1), with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        Estimate of the class prior and its interval. Equal for a prior taken as known.
    unlabeled_prior : float
        P(y = 1) among unlabeled rows; NaN when not (yet) tied to data.
    label_frequency : float
        P(labeled given y = 1); NaN in the case-control scenario.
    method : str
        ``"given"``, ``"given interval"`` or the estimator's name.
    confidence_level : float
        Of the interval.
    diagnostics : mapping
        Details of the estimator, plain JSON types.
    unlabeled_prior_interval : tuple of float
        Interval of `unlabeled_prior` (what estimators estimate directly).
    label_frequency_interval : tuple of float
        Interval of `label_frequency` where that was given; NaN otherwise.
    least : float
        Where only an upper bound can be told from the data: the share of the population that is
        confirmed, below which no class prior can be. NaN where the interval says it all.
    """

    value: float
    low: float
    high: float
    unlabeled_prior: float = math.nan
    label_frequency: float = math.nan
    method: str = "given"
    confidence_level: float = 0.95
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    unlabeled_prior_interval: tuple[float, float] = (math.nan, math.nan)
    label_frequency_interval: tuple[float, float] = (math.nan, math.nan)
    least: float = math.nan

    @property
    def identified_set(self) -> tuple[float, float]:
        """Class priors that fit the data, were they without end; not to be taken for the interval.

        The interval holds what sampling leaves open if some negatives are unlike all positives.
        If none are, part of what looks like positives is negatives, and everything down to the
        share already confirmed fits as well; no data of this kind can tell. For a prior that was
        given, counted or carried over from a reference the two are the same.
        """
        return (self.low if math.isnan(self.least) else min(self.least, self.low), self.high)

    @property
    def is_known(self) -> bool:
        """Whether the prior adds no uncertainty."""
        return self.low == self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "value": finite_or_none(self.value),
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "unlabeled_prior": finite_or_none(self.unlabeled_prior),
            "unlabeled_prior_low": finite_or_none(self.unlabeled_prior_interval[0]),
            "unlabeled_prior_high": finite_or_none(self.unlabeled_prior_interval[1]),
            "label_frequency": finite_or_none(self.label_frequency),
            "identified_set": [finite_or_none(end) for end in self.identified_set],
            "method": self.method,
            "confidence_level": self.confidence_level,
            "diagnostics": dict(self.diagnostics),
        }

    @classmethod
    def given(
        cls,
        class_prior: float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate,
        *,
        confidence_level: float = 0.95,
    ) -> ClassPriorEstimate:
        """Read a prior from the caller: a number, (low, high), (value, low, high), or an estimate.

        Examples
        --------
        >>> ClassPriorEstimate.given((0.01, 0.04)).low
        0.01
        >>> ClassPriorEstimate.given(1.2)
        Traceback (most recent call last):
        ...
        ValueError: class_prior must satisfy 0 < class_prior < 1, got 1.2; did you mean 0.012?
        """
        if isinstance(class_prior, ClassPriorEstimate):
            return class_prior
        if isinstance(class_prior, tuple | list):
            bounds = tuple(float(part) for part in class_prior)
            if len(bounds) not in (2, 3):
                msg = (
                    "class_prior must be a number, (low, high) or (value, low, high), "
                    f"got {len(bounds)} numbers"
                )
                raise ValueError(msg)
            low, high = bounds[-2], bounds[-1]
            if not 0 < low < high < 1:
                msg = (
                    "an interval for class_prior must satisfy 0 < low < high < 1, "
                    f"got low={low:g}, high={high:g}{if_percent(*bounds)}"
                )
                raise ValueError(msg)
            if len(bounds) == 3:
                value = bounds[0]
            else:
                # The midpoint on the logit scale: symmetrical for shares near 0 and near 1.
                logit = 0.5 * (math.log(low / (1 - low)) + math.log(high / (1 - high)))
                value = 1 / (1 + math.exp(-logit))
            if not low <= value <= high:
                msg = (
                    f"class_prior must lie within its interval [{low:g}, {high:g}], got {value:g}: "
                    "the order is (value, low, high)"
                )
                raise ValueError(msg)
            return cls(
                value=value,
                low=low,
                high=high,
                method="given interval",
                confidence_level=confidence_level,
            )
        if isinstance(class_prior, bool | str) or not isinstance(
            class_prior, int | float | np.floating
        ):
            msg = (
                "class_prior must be a number, (low, high), (value, low, high) or a "
                f"ClassPriorEstimate, got {class_prior!r}"
            )
            raise TypeError(msg)
        value = float(class_prior)
        if not 0 < value < 1:
            msg = f"class_prior must satisfy 0 < class_prior < 1, got {value:g}{if_percent(value)}"
            raise ValueError(msg)
        return cls(value=value, low=value, high=value, confidence_level=confidence_level)

    def __str__(self) -> str:
        if self.is_known:
            return f"class_prior {self.value:.4f} ({self.method})"
        return f"class_prior {self.value:.4f} [{self.low:.4f}, {self.high:.4f}] ({self.method})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How low and how high a metric of the rows at hand can be; not a confidence interval.

    Attributes
    ----------
    name : str
        The metric, for example ``"auc"``.
    low, high : float
        Lowest and highest value that the band and the class prior's interval allow.
    confidence_level : float
        Of the band on the ranks of the known rows, and of the class prior's interval.
    band : str
        How that band was made; `simultaneous` says whether it holds for all thresholds at once.
    basis : {"positives", "negatives"}
        The known rows whose ranks were used.
    class_prior : tuple of float
        Lowest and highest class prior; equal when it is taken as known.

    Examples
    --------
    >>> print(Bounds(name="auc", low=0.8, high=0.9, confidence_level=0.95, band="dkw",
    ...              simultaneous=True, basis="positives", class_prior=(0.1, 0.1)))
    auc between 0.8000 and 0.9000
    """

    name: str
    low: float
    high: float
    confidence_level: float
    band: str
    simultaneous: bool
    basis: Literal["positives", "negatives"]
    class_prior: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "name": self.name,
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "confidence_level": self.confidence_level,
            "band": self.band,
            "simultaneous": self.simultaneous,
            "basis": self.basis,
            "class_prior": list(self.class_prior),
        }

    def __str__(self) -> str:
        return f"{self.name} between {self.low:.4f} and {self.high:.4f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve with its band and the same curve with unlabeled rows counted as negative.

    `x` is exact by construction (a grid); `y`, `low`, `high` and `uncorrected` are as long as
    `x`. The band is pointwise, at the evaluation's confidence level.
    """

    name: str
    x_title: str
    y_title: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    uncorrected: NDArray[np.float64] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists; points without a value are None."""

        def numbers(values: NDArray[np.float64]) -> list[float | None]:
            return [finite_or_none(value) for value in values.tolist()]

        return {
            "name": self.name,
            "x_title": self.x_title,
            "y_title": self.y_title,
            "x": numbers(self.x),
            "y": numbers(self.y),
            "low": numbers(self.low),
            "high": numbers(self.high),
            "uncorrected": None if self.uncorrected is None else numbers(self.uncorrected),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A diagnostic that fired: its name, how bad it is, and a sentence for people."""

    name: str
    severity: Literal["note", "warning"]
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """Plain JSON types."""
        return {"name": self.name, "severity": self.severity, "sentence": self.sentence}

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
        very rows, by the ranks of the confirmed positives alone.
    scores : mapping
        Histogram of the scores, labeled against unlabeled, for drawing.
    settings : mapping
        How it was computed: threshold, scenario, target, label purity, confidence level, counts.
    at_priors : callable, optional
        What `sensitivity` asks: it keeps the table of scores.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", by_name("estimate", self.estimates))
        object.__setattr__(self, "curves", by_name("curve", self.curves))
        object.__setattr__(self, "bounds", by_name("bounds of", self.bounds))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

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
        return {
            "schema_version": SCHEMA_VERSION,
            "settings": dict(self.settings),
            "class_prior": self.class_prior.to_dict(),
            "estimates": {name: estimate.to_dict() for name, estimate in self.estimates.items()},
            "bounds": {name: found.to_dict() for name, found in self.bounds.items()},
            "warnings": [finding.to_dict() for finding in self.warnings],
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }

    def to_frame(self) -> pandas.DataFrame:
        """One row per estimate, as a pandas data frame indexed by metric name."""
        return frame_of([one.to_dict() for one in self.estimates.values()], index="name")

    def __str__(self) -> str:
        return "\n".join(str(estimate) for estimate in self.estimates.values())
