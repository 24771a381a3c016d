"""All charts of an evaluation, and their rendering."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pumonitor.report.forest_chart import forest_chart
from pumonitor.report.ranking_charts import lift_chart, precision_recall_chart, roc_chart
from pumonitor.report.score_chart import score_chart
from pumonitor.report.sensitivity_chart import sensitivity_chart
from pumonitor.report.theme import themed, to_png, to_svg
from pumonitor.report.threshold_charts import threshold_chart
from pumonitor.results import Evaluation

if TYPE_CHECKING:
    import altair

    from pumonitor.report.theme import Chart

__all__ = ["build_chart", "build_charts", "to_png", "to_svg"]

_BUILDERS: Final[dict[str, Callable[[Evaluation], Chart]]] = {
    "forest": forest_chart,
    "roc": roc_chart,
    "precision_recall": precision_recall_chart,
    "lift": lift_chart,
    "by_threshold": threshold_chart,
    "score_distributions": score_chart,
    "sensitivity": sensitivity_chart,
}


def build_charts(evaluation: Evaluation) -> dict[str, altair.TopLevelMixin]:
    """The charts of an evaluation, ready to be shown, saved or rendered.

    Returns
    -------
    dict of str to altair chart
        ``forest`` (all estimates with intervals), ``roc``, ``precision_recall``, ``lift``,
        ``by_threshold`` (one panel for each metric), ``score_distributions`` and
        ``sensitivity`` (one panel for each of four metrics against the class prior; only where
        `Evaluation.sensitivity` can be asked).

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(2_000) < 0.1
    >>> labels = is_positive & (rng.random(2_000) < 0.5)
    >>> ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), class_prior=0.1)
    >>> sorted(build_charts(ev))
    ['by_threshold', 'forest', 'lift', 'precision_recall', 'roc', 'score_distributions',
     'sensitivity']
    """
    drawn = [name for name in _BUILDERS if name != "sensitivity" or evaluation.at_priors]
    return {name: build_chart(evaluation, name) for name in drawn}


def build_chart(evaluation: Evaluation, name: str) -> altair.TopLevelMixin:
    """One of the charts of `build_charts`, by its name."""
    return themed(_BUILDERS[name](evaluation))
