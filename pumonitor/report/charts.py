"""All charts of an evaluation, and their rendering."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from pumonitor.report.audit_charts import audit_frequency_chart, audit_positives_chart
from pumonitor.report.chart_parts import Spec
from pumonitor.report.forest_chart import forest_chart
from pumonitor.report.ranking_charts import lift_chart, precision_recall_chart, roc_chart
from pumonitor.report.score_chart import score_chart
from pumonitor.report.sensitivity_chart import sensitivity_chart
from pumonitor.report.theme import CONFIG, to_png, to_svg
from pumonitor.report.threshold_charts import threshold_chart
from pumonitor.results import Evaluation

if TYPE_CHECKING:
    import altair


__all__ = ["build_chart", "chart_names", "chart_of", "to_png", "to_svg"]

_BUILDERS: Final[dict[str, Callable[[Evaluation], Spec]]] = {
    "forest": forest_chart,
    "roc": roc_chart,
    "precision_recall": precision_recall_chart,
    "lift": lift_chart,
    "by_threshold": threshold_chart,
    "score_distributions": score_chart,
    "sensitivity": sensitivity_chart,
}
_BY_BIN: Final[dict[str, dict[str, Callable[[Evaluation], Spec]]]] = {
    "audit": {
        "audit_frequency": audit_frequency_chart,
        "audit_positives": audit_positives_chart,
    },
    "reviews": {"review_positives": audit_positives_chart},
}
"""Further ones by the kind of what was told by score bin."""


def build_chart(evaluation: Evaluation, name: str) -> altair.TopLevelMixin:
    """One of the charts of an evaluation, ready to be shown, saved or rendered.

    Parameters
    ----------
    evaluation : Evaluation
    name : str
        One of `chart_names`: ``forest`` (all estimates with intervals), ``roc``,
        ``precision_recall``, ``lift``, ``by_threshold`` (one panel for each metric),
        ``score_distributions`` and ``sensitivity`` (one panel for each of four metrics against the
        class prior; only where `Evaluation.sensitivity` can be asked). With an audit also
        ``audit_frequency`` (share of the positives confirmed by score) and ``audit_positives``
        (positives by score).

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(2_000) < 0.1
    >>> labels = is_positive & (rng.random(2_000) < 0.5)
    >>> ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), class_prior=0.1)
    >>> build_chart(ev, "lift").to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    import altair as alt
    from altair.utils.schemapi import debug_mode

    chart = chart_of(evaluation, name)
    kinds: dict[str, Any] = {
        "vconcat": alt.VConcatChart,
        "concat": alt.ConcatChart,
        "layer": alt.LayerChart,
    }
    # Altair would check each part against the whole schema, which takes longer than all else.
    with debug_mode(False):  # noqa: FBT003 (Altair's signature)
        made: altair.TopLevelMixin = next(
            kind.from_dict({**chart, "config": CONFIG}, validate=False)
            for part, kind in kinds.items()
            if part in chart
        )
    return made


def chart_names(evaluation: Evaluation) -> list[str]:
    """Charts that there are of an evaluation."""
    names = [name for name in _BUILDERS if name != "sensitivity" or evaluation.at_priors]
    return names if evaluation.reading is None else [*names, *_BY_BIN[evaluation.reading.kind]]


def chart_of(evaluation: Evaluation, name: str) -> Spec:
    """One of the charts as it is put together, which `to_svg` and `to_png` draw."""
    return {**_BUILDERS, **_BY_BIN["audit"], **_BY_BIN["reviews"]}[name](evaluation)
