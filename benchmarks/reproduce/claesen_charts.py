"""Pictures of Claesen et al.: bounds on AUROC and on the ROC curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair

__all__ = [
    "assumed_shares",
    "covertype",
    "known_positives",
    "known_rows",
    "swapping_models",
]

Series = Mapping[str, Any]


def known_positives(series: Series) -> altair.LayerChart:
    """Bounds on AUROC against the number of known positives; dashed: the truth."""
    import altair as alt

    base = alt.Chart(alt.Data(values=series["points"])).encode(
        x=alt.X("known:Q", scale=alt.Scale(type="log"), title="Known positives")
    )
    band = base.mark_area(opacity=0.3).encode(
        y=alt.Y("low:Q", scale=alt.Scale(zero=False), title="Mean bounds on AUROC"), y2="high:Q"
    )
    truth = (
        alt.Chart(alt.Data(values=[{"auc": series["truth"]}]))
        .mark_rule(strokeDash=[6, 4])
        .encode(y="auc:Q")
    )
    return alt.layer(band, truth).properties(width=420, height=260)


def assumed_shares(series: Series) -> altair.Chart:
    """Bounds on the ROC curve, an area for each share of positives assumed."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["curves"]))
        .mark_area(opacity=0.45)
        .encode(
            x=alt.X("x:Q", title="False positive rate"),
            y=alt.Y("low:Q", title="True positive rate"),
            y2="high:Q",
            color=alt.Color("assumed:O", title="Assumed share of positives in U"),
        )
        .properties(width=380, height=320)
    )


def swapping_models(series: Series) -> altair.Chart:
    """The middle of the bounds on AUROC of two models, by the share assumed."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["points"]))
        .mark_line(point=True)
        .encode(
            x=alt.X("assumed:Q", title="Assumed share of positives in U"),
            y=alt.Y("auc:Q", scale=alt.Scale(zero=False), title="AUROC, middle of the bounds"),
            color=alt.Color("model:N", title="Model"),
        )
        .properties(width=380, height=260)
    )


def covertype(series: Series) -> altair.LayerChart:
    """Bounds on the ROC curve, an area for each prior; dashed: the true curve."""
    import altair as alt

    base = alt.Chart(alt.Data(values=series["curves"])).encode(
        x=alt.X("x:Q", title="False positive rate")
    )
    band = base.mark_area(opacity=0.4).encode(
        y=alt.Y("low:Q", title="True positive rate"),
        y2="high:Q",
        color=alt.Color("prior:N", title="Assumed prior in U"),
    )
    truth = base.mark_line(color="#444", strokeDash=[6, 4]).encode(y="truth:Q")
    return alt.layer(band, truth).properties(width=380, height=320)


def known_rows(series: Series) -> altair.Chart:
    """Width of the bounds on AUROC, by the shares of positives and negatives known."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["points"]))
        .mark_bar()
        .encode(
            x=alt.X("known positives:O", title="Positives known"),
            xOffset="known negatives:O",
            y=alt.Y("width:Q", title="Width of the bounds on AUROC"),
            color=alt.Color("known negatives:O", title="Negatives known"),
        )
        .properties(width=380, height=260)
    )
