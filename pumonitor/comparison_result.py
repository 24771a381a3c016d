"""What a comparison returns: estimates and ranks of each model, differences between any two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from pumonitor.comparison_lead import Lead, brief
from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.errors import no_such
from pumonitor.metrics.model_pairs import ModelPairs
from pumonitor.names import title
from pumonitor.plain_values import plain
from pumonitor.results import (
    ClassPriorEstimate,
    Estimate,
    Finding,
    LabelAssumption,
    by_name,
    undefined,
)
from pumonitor.reviews.models import ReviewedModels
from pumonitor.text import number_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Comparison", "Lead"]

SCHEMA_VERSION = 1
_SHOWN = ("f1", "aul", "ll_score")
_LISTED = 3
_REMEDY = (
    "Give verdicts and complaints apart, verdicts as reviews; or review a random sample of the "
    "rows, or of the rows that any of the models flags, and compare on those labels; or give the "
    "chance of review as propensity, if no row had none."
)
_UNLESS_CHANCE = " If no model had a part in it, say so: label_origin='complaints' or 'random'."


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Models scored on the same rows, estimated with one class prior and compared in pairs.

    Attributes
    ----------
    estimates : mapping of str to mapping of str to Estimate
        Of each model, by metric: f1, aul, auc, ll_score, precision, recall, f_beta.
    class_prior : ClassPriorEstimate
        The one prior of all models.
    prior_from : str or None
        The model from whose scores the prior was estimated; None when it was given.
    settings : mapping
        How it was computed: thresholds by model, scenario, target, label purity, confidence
        level, counts.
    pairs : ModelPairs or ReviewedModels
        What differences are made of.
    warnings : mapping of str to tuple of Finding
        The diagnostics that fired for each model.
    chosen_by : str or None
        The model whose scores seem to have decided which rows were reviewed. Labels of its choosing
        say nothing about which model is better: no lead is clear.
    possibly_chosen_by : tuple of str
        Models of which labels do not rule out that mainly their highest rows were reviewed
        (`pumonitor.diagnostics.review_ruled_out`). A lead of or over one of them is not clear.
    assumption : LabelAssumption or None
        What is taken for granted of the labels, as in `Evaluation`, without figures.
    """

    estimates: Mapping[str, Mapping[str, Estimate]]
    class_prior: ClassPriorEstimate
    prior_from: str | None
    settings: Mapping[str, Any]
    pairs: ModelPairs | ReviewedModels = field(repr=False)
    warnings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    chosen_by: str | None = None
    possibly_chosen_by: tuple[str, ...] = ()
    assumption: LabelAssumption | None = None

    def __post_init__(self) -> None:
        estimates = {name: by_name("metric", of) for name, of in self.estimates.items()}
        object.__setattr__(self, "estimates", by_name("model", estimates))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __getitem__(self, model: str) -> Mapping[str, Estimate]:
        return self.estimates[model]

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order they were given."""
        return tuple(self.estimates)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(next(iter(self.estimates.values())))

    @property
    def no_verdict(self) -> str | None:
        """Why these labels cannot say which model is better, and what would; None if they can."""
        if self.chosen_by is not None:
            return (
                "Which rows were confirmed seems to have been decided by the scores of "
                f"{self.chosen_by}: the positives that it found count in its favour, and those "
                f"that another model would have found are not known. {self._titles()} of these "
                f"models cannot be compared. {_REMEDY}"
            )
        return None

    @property
    def caution(self) -> str | None:
        """Why some models are not said to be better or worse yet; None where all can be."""
        if self.chosen_by is not None or not self.possibly_chosen_by:
            return None
        return (
            f"These {self.settings['n_labeled']:,} confirmed positives do not rule out that mainly "
            f"the highest rows of {' or '.join(self.possibly_chosen_by)} were reviewed, which "
            "would make it look better than it is: too few of them have lower scores. Which model "
            f"is better cannot be told. {_REMEDY}{_UNLESS_CHANCE}"
        )

    @property
    def ranks(self) -> dict[str, dict[str, int | None]]:
        """Rank of each model by metric: 1 is best, ties share theirs, None has no value."""
        return {metric: self._ranks(metric) for metric in self.metrics}

    def _ranks(self, metric: str) -> dict[str, int | None]:
        values = {name: of[metric].value for name, of in self.estimates.items()}
        defined = [name for name in values if math.isfinite(values[name])]
        # Weighted sums of the same rows in another order differ by rounding and by nothing else.
        rounded = np.round([values[name] for name in defined], 12)
        found: dict[str, int | None] = dict.fromkeys(values)
        places = [1 + int((rounded > value).sum()) for value in rounded]
        return found | dict(zip(defined, places, strict=True))

    def difference(self, first: str, second: str, metric: str) -> Estimate:
        """How much higher `metric` is for the first model than for the second.

        Parameters
        ----------
        first, second, metric : str

        Returns
        -------
        Estimate
            First less second, with a paired interval; undefined when either is. Models alike in
            every decision (threshold metrics) or score (AUL, AUC) differ by exactly 0.

        Raises
        ------
        KeyError
            If a model or the metric is unknown; near names are given.

        Notes
        -----
        For two models named beforehand. The best of many is partly best by luck, which this
        interval does not take off.
        """
        _known(metric, self.metrics, what="metric")
        return self.differences(first, second, metrics=(metric,))[metric]

    def differences(
        self, first: str, second: str, *, metrics: Iterable[str] | None = None
    ) -> dict[str, Estimate]:
        """The same for several metrics (all by default), going over the rows once.

        Parameters
        ----------
        first, second : str
        metrics : iterable of str, optional

        Raises
        ------
        KeyError
            If a model or a metric is unknown.
        """
        chosen = self.metrics if metrics is None else tuple(metrics)
        for metric in chosen:
            _known(metric, self.metrics, what="metric")
        places = [
            self.models.index(_known(name, self.models, what="model")) for name in (first, second)
        ]
        if places[0] > places[1]:
            # One draw for both directions: turning a difference round turns its interval round.
            turned = self.differences(second, first, metrics=chosen)
            return {metric: _negative(estimate) for metric, estimate in turned.items()}
        one, other = self.estimates[first], self.estimates[second]
        values = {metric: one[metric].value - other[metric].value for metric in chosen}
        defined = {metric: value for metric, value in values.items() if math.isfinite(value)}
        found = self.pairs.differences(first, second, defined)
        for metric in values.keys() - defined.keys():
            lacking = {first: one[metric], second: other[metric]}
            found[metric] = _undefined_difference(metric, lacking)
        return {metric: found[metric] for metric in chosen}

    def best(self, metric: str) -> str:
        """Name of the model with the highest estimate; of several, the one given first.

        Raises
        ------
        KeyError
            If the metric is unknown.
        ValueError
            If no model has a value.
        """
        return self.lead(metric).best

    def lead(self, metric: str) -> Lead:
        """The best model, the second best, and whether the two can be told apart.

        Raises
        ------
        KeyError
            If the metric is unknown.
        ValueError
            If no model has a value.
        """
        order = self._order(_known(metric, self.metrics, what="metric"))
        if not order:
            reason = self.estimates[self.models[0]][metric].undefined_reason
            msg = f"no model has a value of {metric}: {reason}"
            raise ValueError(msg)
        second = order[1] if len(order) > 1 else None
        return Lead(
            metric=metric,
            best=order[0],
            second=second,
            difference=None if second is None else self.difference(order[0], second, metric),
            withheld=self._withheld(metric, order[0], second),
        )

    def _titles(self) -> str:
        *others, last = (title(metric, self.settings) for metric in self.metrics)
        return f"{', '.join(others)} and {last}"

    def _withheld(self, metric: str, *models: str | None) -> str | None:
        """Why the first of these models is not said to be better by a metric."""
        if self.chosen_by is not None:
            return f"{self.chosen_by} seems to have chosen which rows were reviewed"
        impossible = [
            f"{name} came out at {number_text(self.estimates[name][metric].value)}"
            for name in models
            if name is not None and more_than_chance(self.estimates[name][metric])
        ]
        if impossible:
            return f"{' and '.join(impossible)}, which is impossible"
        choosers = [name for name in models if name in self.possibly_chosen_by]
        if choosers:
            return (
                f"it is not ruled out that {' or '.join(map(str, choosers))} chose which rows were "
                "reviewed"
            )
        return None

    def _order(self, metric: str) -> list[str]:
        """Models that have a value, best first; of equals, the one given first."""
        ranks = self._ranks(metric)
        placed = [(rank, name) for name, rank in ranks.items() if rank is not None]
        return [name for _, name in sorted(placed, key=lambda place: place[0])]

    def to_dict(self) -> dict[str, Any]:
        """The whole comparison as plain JSON types, with a ``schema_version``.

        ``differences`` holds, by metric, the best model less each other one; ``leads`` is null for
        a metric that no model has a value of.
        """
        orders = {metric: self._order(metric) for metric in self.metrics}
        differences = self._from_the_best(orders)
        leads: dict[str, dict[str, Any] | None] = dict.fromkeys(orders)
        for metric, (best, *others) in ((m, order) for m, order in orders.items() if order):
            second = others[0] if others else None
            difference = None if second is None else differences[metric][second]
            lead = Lead(
                metric=metric,
                best=best,
                second=second,
                difference=difference,
                withheld=self._withheld(metric, best, second),
            )
            leads[metric] = lead.to_dict()
        settings = {**self.settings, "threshold": dict(self.settings["threshold"])}
        names = ("class_prior", "prior_from", "models", "warnings", "chosen_by", "no_verdict")
        values = {name: getattr(self, "estimates" if name == "models" else name) for name in names}
        shown: dict[str, Any] = plain(
            {"schema_version": SCHEMA_VERSION, "assumption": self.assumption, "settings": settings}
            | values
            | {"caution": self.caution, "ranks": self.ranks}
            | {"leads": leads, "differences": differences}
        )
        return shown

    def _from_the_best(self, orders: Mapping[str, list[str]]) -> dict[str, dict[str, Estimate]]:
        """By metric, the best less each other model; every pair's rows are gone over once."""
        best = {metric: order[0] for metric, order in orders.items() if order}
        found: dict[str, dict[str, Estimate]] = {metric: {} for metric in best}
        for name in dict.fromkeys(best.values()):
            metrics = [metric for metric, leader in best.items() if leader == name]
            for other in self.models:
                if other != name:
                    for metric, estimate in self.differences(name, other, metrics=metrics).items():
                        found[metric][other] = estimate
        return found

    def to_frame(self) -> pandas.DataFrame:
        """One row per model and metric with its rank, as a pandas data frame."""
        import pandas

        ranks = self.ranks
        rows = [
            {"model": name, **estimate.to_dict(), "rank": ranks[metric][name]}
            for name, of in self.estimates.items()
            for metric, estimate in of.items()
        ]
        frame = pandas.DataFrame(rows).rename(columns={"name": "metric"})
        frame["rank"] = frame["rank"].astype("Int64")
        return frame.set_index(["model", "metric"])

    def __repr__(self) -> str:
        return (
            f"<Comparison of {len(self.models)} models ({_listed(self.models)}) by "
            f"{len(self.metrics)} metrics on {self.settings['n_labeled']} labeled and "
            f"{self.settings['n_unlabeled']} unlabeled rows; print it, or see .estimates, "
            ".to_frame()>"
        )

    def __str__(self) -> str:
        ranked = self._order("f1")
        order = [*ranked, *(name for name in self.models if name not in ranked)]
        cells = [["model", *(_SHOWN)]]
        cells += [
            [name, *(brief(self.estimates[name][metric]) for metric in _SHOWN)] for name in order
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        source = "" if self.prior_from is None else f", from {self.prior_from}"
        verdict = (
            [self.no_verdict]
            if self.no_verdict is not None
            else [str(self.lead(metric)) for metric in _SHOWN if self._order(metric)]
        )
        if self.caution is not None:
            verdict.append(self.caution)
        first = [] if self.assumption is None else [str(self.assumption)]
        rest = [f"{self.class_prior}{source}", *verdict, *self.sentences()]
        return "\n".join([*first, *lines, *rest])

    def sentences(self, *, notes: bool = False) -> list[str]:
        """What the diagnostics found, each sentence once, with the models that it is about.

        Parameters
        ----------
        notes : bool
            Notes too, and not warnings alone.
        """
        about: dict[str, list[str]] = {}
        for name, found in self.warnings.items():
            for finding in found:
                if notes or finding.severity == "warning":
                    about.setdefault(finding.sentence, []).append(name)
        return [
            sentence if len(names) == len(self.models) else f"{', '.join(names)}: {sentence}"
            for sentence, names in about.items()
        ]


def _listed(names: tuple[str, ...]) -> str:
    """The first few names."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _negative(estimate: Estimate) -> Estimate:
    """The difference taken the other way round; 0 - x, as -0.0 is no way to print a difference."""
    lowest, highest = estimate.sampling_interval
    return replace(
        estimate,
        value=0.0 - estimate.value,
        low=0.0 - estimate.high,
        high=0.0 - estimate.low,
        sampling_interval=(0.0 - highest, 0.0 - lowest),
        prior_bias=0.0 - estimate.prior_bias,
    )


def _undefined_difference(metric: str, of: Mapping[str, Estimate]) -> Estimate:
    reasons = [
        f"{metric} of {name} is undefined: {estimate.undefined_reason}"
        for name, estimate in of.items()
        if estimate.undefined_reason is not None
    ]
    any_estimate = next(iter(of.values()))
    return undefined(
        f"{metric}_difference",
        "; ".join(reasons),
        confidence_level=any_estimate.confidence_level,
        n_labeled=any_estimate.n_labeled,
        n_unlabeled=any_estimate.n_unlabeled,
    )


def _known(name: str, names: tuple[str, ...], *, what: str) -> str:
    if name not in names:
        raise KeyError(no_such(what, name, names))
    return name
