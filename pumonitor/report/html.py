"""One self-contained page about an evaluation, for people who never heard of unlabeled data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pumonitor.names import title as title_of
from pumonitor.report import palette
from pumonitor.report.assumptions import assumptions, doubts
from pumonitor.report.figures import (
    audit_figures,
    figures,
    history_figures,
    prior_figures,
    sensitivity_figures,
    threshold_figures,
)
from pumonitor.report.history_chart import HistoryPoint
from pumonitor.report.prior_chart import PriorHistory
from pumonitor.report.review_words import how_known
from pumonitor.report.sensitivity_chart import sensitivities, sensitivity_reading
from pumonitor.report.verdict import verdict
from pumonitor.results import Evaluation
from pumonitor.text import count_text, given_text, marked, number_text, percent_text
from pumonitor.views.estimates import EstimateView, estimate_groups, estimate_views

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

    sentences, views = verdict(evaluation), estimate_views(evaluation)
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
        level=percent_text(evaluation.settings["confidence_level"]),
        tiles=[_tile(views[name]) for name in _TILES if name in views],
        basis=_basis(evaluation),
        assumptions=assumptions(evaluation),
        doubts=doubts(evaluation),
        groups=estimate_groups(evaluation),
        figures=drawn,
        panels=panels,
        what_if=what_if,
        what_if_reading=sensitivity_reading(next(iter(swept.values()))) if swept else "",
        threshold=given_text(evaluation.settings["threshold"]),
        evaluation=evaluation,
        title_of=title_of,
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
    environment.filters.update(number=number_text, full=_in_full)
    return environment.get_template("report.html")


def _basis(evaluation: Evaluation) -> str:
    settings = evaluation.settings
    labeled, unlabeled = count_text(settings["n_labeled"]), count_text(settings["n_unlabeled"])
    negatives = settings["n_negative"]
    others = f" and {count_text(negatives)} confirmed negatives" if negatives else ""
    threshold = given_text(settings["threshold"])
    reviews = evaluation.reviews
    known = how_known(None if reviews is None else reviews.counts.totals())
    return (
        f"{labeled} confirmed positives{known}{others}, and {unlabeled} unconfirmed cases. A case "
        f"is flagged when its score is {threshold} or higher. An unconfirmed case may be positive "
        "or negative: nobody has looked, or not yet. The estimates allow for the positives hidden "
        "among them."
    )


def _tile(view: EstimateView) -> dict[str, str]:
    tile = {"title": view.title, "value": "no value", "interval": view.interval_text, "naive": ""}
    if view.value is None:
        return tile
    ends = None if view.low is None or view.high is None else (view.low, view.high)
    as_text = number_text
    if view.name != "auc":
        as_text = partial(percent_text, width=0.0 if ends is None else ends[1] - ends[0])
    tile["value"] = marked(as_text(view.value), view.note)
    if ends is not None and not view.is_known:
        tile["interval"] = f"{as_text(ends[0]).removesuffix('%')} to {as_text(ends[1])}"
    if view.came_out is not None:
        tile["value"] = "impossible" if ends is None else tile["value"]
        tile["interval"] = f"came out at {number_text(view.came_out)}"
    if view.uncorrected is not None:
        tile["naive"] = f"uncorrected {as_text(view.uncorrected)}"
    return tile


def _in_full(value: Any) -> str:
    """A number as computed, not clipped; one that does not exist is a dash."""
    return given_text(value) if isinstance(value, float) else str(value)
