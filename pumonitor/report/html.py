"""One self-contained page about an evaluation, for people who never heard of unlabeled data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pumonitor.names import title as title_of
from pumonitor.report import palette
from pumonitor.report.assumptions import assumptions, doubts
from pumonitor.report.estimate_table import estimate_groups
from pumonitor.report.figures import (
    audit_figures,
    figures,
    history_figures,
    prior_figures,
    sensitivity_figures,
    threshold_figures,
)
from pumonitor.report.history_chart import HistoryPoint
from pumonitor.report.numbers import number, percent, percent_with_interval, rows
from pumonitor.report.prior_chart import PriorHistory
from pumonitor.report.review_words import how_known
from pumonitor.report.sensitivity_chart import sensitivities, sensitivity_reading
from pumonitor.report.uncorrected import uncorrected_value
from pumonitor.report.verdict import verdict
from pumonitor.results import Estimate, Evaluation

if TYPE_CHECKING:
    from jinja2 import Template

_TILES = ("precision", "recall", "class_prior", "auc")


def render_html(
    evaluation: Evaluation,
    *,
    title: str = "How the classifier is doing",
    context: Mapping[str, str] | None = None,
    history: Mapping[str, Sequence[HistoryPoint]] | None = None,
    prior_history: PriorHistory | None = None,
    without_audit: Evaluation | None = None,
) -> str:
    """The evaluation as one HTML page that needs nothing else: no network, script or font.

    The page reads in light and dark and on a phone. It starts with the verdict in plain words,
    then says what that rests on, what is assumed and what is doubtful, then gives all numbers.

    Parameters
    ----------
    evaluation : Evaluation
    title : str
        Heading of the page; any text, escaped.
    context : mapping of str to str, optional
        What the reader should know of it, such as model and period; any text, escaped.
    history : mapping of str to sequence of HistoryPoint, optional
        Estimates of the windows up to this one, by heading.
    prior_history : PriorHistory, optional
        Class priors of these, where it is followed.
    without_audit : Evaluation, optional
        Of the same rows, where `evaluation` has an audit: shown beside each other.

    Returns
    -------
    str
        A complete HTML document in UTF-8, some hundreds of kilobytes.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(2_000) < 0.1
    >>> labels = is_positive & (rng.random(2_000) < 0.5)
    >>> ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), class_prior=0.1)
    >>> page = render_html(ev, title="Card fraud", context={"Model": "version 3"})
    >>> page.startswith("<!doctype html>")
    True
    """
    import pumonitor

    sentences = verdict(evaluation)
    swept = sensitivities(evaluation)
    drawn = [
        *prior_figures(prior_history),
        *history_figures(history or {}),
        *audit_figures(evaluation, without_audit),
        *figures(evaluation),
    ]
    panels = threshold_figures(evaluation)
    what_if = sensitivity_figures(evaluation, swept)
    return _template().render(
        title=title,
        context=dict(context or {}),
        assumption="" if evaluation.assumption is None else evaluation.assumption.sentence,
        lead=sentences[0],
        sentences=sentences[1:],
        doubtful=any(finding.severity == "warning" for finding in evaluation.warnings),
        level=percent(evaluation.settings["confidence_level"]),
        tiles=[_tile(evaluation, name) for name in _TILES if name in evaluation.estimates],
        basis=_basis(evaluation),
        assumptions=assumptions(evaluation),
        doubts=doubts(evaluation),
        groups=estimate_groups(evaluation),
        figures=drawn,
        panels=panels,
        what_if=what_if,
        what_if_reading=sensitivity_reading(next(iter(swept.values()))) if swept else "",
        threshold=f"{evaluation.settings['threshold']:.4g}",
        settings={
            name: _setting(value)
            for name, value in evaluation.settings.items()
            if value is not None
        },
        prior_method=evaluation.class_prior.method,
        details=[_details(estimate) for estimate in evaluation.estimates.values()],
        bounds=[_bound(evaluation, name) for name in evaluation.bounds],
        dark_rules=palette.dark_rules(".drawing"),
        colors={"corrected": palette.CORRECTED, "uncorrected": palette.UNCORRECTED},
        version=pumonitor.__version__,
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    """The page's template: values are escaped, and one that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pumonitor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")


def _basis(evaluation: Evaluation) -> str:
    settings = evaluation.settings
    labeled, unlabeled = rows(settings["n_labeled"]), rows(settings["n_unlabeled"])
    negatives = settings["n_negative"]
    others = f" and {rows(negatives)} confirmed negatives" if negatives else ""
    threshold = f"{settings['threshold']:.4g}"
    reviews = evaluation.reviews
    known = how_known(None if reviews is None else reviews.counts.totals())
    return (
        f"{labeled} confirmed positives{known}{others}, and {unlabeled} unconfirmed cases. A case "
        f"is flagged when its score is {threshold} or higher. An unconfirmed case may be positive "
        "or negative: nobody has looked, or not yet. The estimates allow for the positives hidden "
        "among them."
    )


def _tile(evaluation: Evaluation, name: str) -> dict[str, str]:
    estimate = evaluation[name]
    tile = {
        "title": title_of(name, evaluation.settings),
        "value": "no value",
        "interval": estimate.undefined_reason or "",
        "naive": "",
    }
    if estimate.undefined_reason is not None:
        return tile
    value, low, high = estimate.displayed
    naive = uncorrected_value(evaluation, name)
    if name == "auc":
        tile |= {"value": number(value), "interval": f"{number(low)} to {number(high)}"}
        shown = None if naive is None else number(naive)
    else:
        shown = None if naive is None else percent(naive, width=high - low)
        tile |= {"value": percent(value, width=high - low), "interval": "taken as known"}
        if high > low:
            both = percent_with_interval(value, low, high)
            tile["interval"] = both[both.index("(") + 1 : -1]
    if estimate.interval_infeasible:
        tile["value"] = "impossible"
    if estimate.infeasible:
        tile["interval"] = f"came out at {number(estimate.value)}"
    if shown is not None:
        tile["naive"] = f"uncorrected {shown}"
    return tile


def _setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bound(evaluation: Evaluation, name: str) -> dict[str, str]:
    bound = evaluation.bounds[name]
    return {
        "title": title_of(name, evaluation.settings),
        "low": number(bound.low),
        "high": number(bound.high),
    }


def _details(estimate: Estimate) -> dict[str, str]:
    """The numbers as computed, not clipped, in full; a number that does not exist is a dash."""

    def full(value: float) -> str:
        return f"{value:.6g}" if math.isfinite(value) else "–"

    return {
        "name": estimate.name,
        "value": full(estimate.value),
        "low": full(estimate.low),
        "high": full(estimate.high),
        "se_sampling": full(estimate.se_sampling),
        "se_prior": full(estimate.se_prior),
        "method": estimate.method,
    }
