"""Pictures of Ramola et al. (2019), Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pumonitor.report import palette

if TYPE_CHECKING:
    import altair

__all__ = ["curves_chart", "errors_chart"]

_ORDER = ["accuracy", "balanced accuracy", "F", "MCC"]


def curves_chart(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["curves"]))
        .mark_line()
        .encode(
            x=alt.X("threshold:Q", title="Decision threshold"),
            y=alt.Y("value:Q", title=None),
            color=alt.Color(
                "kind:N",
                title=None,
                sort=["true, and corrected", "as it comes"],
                scale=alt.Scale(range=[palette.CORRECTED, palette.UNCORRECTED]),
            ),
            facet=alt.Facet("measure:N", columns=2, title=None, sort=_ORDER),
        )
        .properties(width=230, height=170)
        .resolve_scale(y="independent")
    )


def errors_chart(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["errors"]))
        .mark_boxplot(size=9)
        .encode(
            x=alt.X("purity:N", sort=["1", "0.9", "0.8", "0.7"], title="Label purity"),
            xOffset=alt.XOffset("key:N", sort=["PU", "CR", "CE"]),
            y=alt.Y("error:Q", title="Estimated less true"),
            color=alt.Color(
                "key:N",
                sort=["PU", "CR", "CE"],
                title=None,
                scale=alt.Scale(range=[palette.UNCORRECTED, palette.CORRECTED, palette.AXIS]),
            ),
            facet=alt.Facet("measure:N", columns=2, title=None, sort=_ORDER),
        )
        .properties(width=260, height=180)
    )
