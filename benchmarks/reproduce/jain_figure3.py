"""Jain et al. (2017), Figure 3: the recovered AUC when both shares are assumed wrong."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.reproduce.rows import Figure, Report, Row, RowResult
from pumonitor.metrics.conversions import corrected_auc

if TYPE_CHECKING:
    import altair

__all__ = ["ROW"]

_PRIORS: Final = (0.05, 0.25, 0.5)
_PURITIES: Final = (1.0, 0.95, 0.75)
_AREAS: Final = (0.65, 0.8, 0.95)
_STEPS: Final = 20


def _observed(prior: float, purity: float, auc: float) -> float:
    """AUC of labeled against unlabeled rows, equation 4 solved for it."""
    gap = purity - prior
    return gap * auc + 0.5 * (1 - gap)


def _panel(prior: float, purity: float, auc: float) -> list[dict[str, float | str]]:
    """Error of the recovered AUC where one between 0 and 1 comes out."""
    observed = _observed(prior, purity, auc)
    grid = (np.arange(_STEPS) + 0.5) / _STEPS
    cells: list[dict[str, float | str]] = []
    for assumed, pure in product(grid, grid):
        if pure <= assumed:
            continue
        found = corrected_auc(observed, unlabeled_prior=assumed, label_purity=pure)
        if 0 <= found <= 1:
            cells.append(
                {
                    "prior": round(float(assumed), 3),
                    "purity": round(float(pure), 3),
                    "error": round(abs(float(found) - auc), 6),
                    "shares": f"prior {prior:.2f}, purity {purity:.2f}",
                    "auc": f"AUC {auc:.2f}",
                }
            )
    return cells


def _run(repetitions: int, report: Report) -> RowResult:
    cells: list[dict[str, float | str]] = []
    infeasible = {}
    panels = list(product(_PRIORS, _PURITIES, _AREAS))
    for number, (prior, purity, auc) in enumerate(panels):
        panel = _panel(prior, purity, auc)
        infeasible[prior, purity, auc] = 1 - len(panel) / (_STEPS * (_STEPS - 1) / 2)
        cells += panel
        report(number + 1, len(panels))
    growing = sum(
        infeasible[prior, purity, low] <= infeasible[prior, purity, high]
        for prior, purity in product(_PRIORS, _PURITIES)
        for low, high in pairwise(_AREAS)
    )
    off_line = max(
        abs(
            corrected_auc(
                _observed(prior, purity, auc),
                unlabeled_prior=prior + shift,
                label_purity=purity + shift,
            )
            - auc
        )
        for prior, purity, auc in panels
        for shift in (-0.04, -0.5 * prior)
    )
    return RowResult(
        figures=(
            Figure(
                name="largest error of AUC where purity less prior is right, 27 panels",
                ours=float(off_line),
                error=0.0,
                printed=0.0,
                rule="near",
                tolerance=1e-9,
            ),
            Figure(
                name="steps to a higher AUC, of 18, with an infeasible region no smaller",
                ours=float(growing),
                error=0.0,
                printed=18.0,
                rule="near",
                why="generally larger values of AUC lead to larger infeasible regions",
            ),
        ),
        series={"cells": cells},
    )


def _draw(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    axis = alt.Axis(values=[0, 0.5, 1], grid=False)
    panels: altair.Chart = (
        alt.Chart(alt.Data(values=series["cells"]))
        .mark_rect()
        .encode(
            x=alt.X("prior:Q", bin=alt.Bin(step=0.05), title="Assumed prior", axis=axis),
            y=alt.Y("purity:Q", bin=alt.Bin(step=0.05), title="Purity", axis=axis),
            color=alt.Color("mean(error):Q", title="Error of AUC"),
            row=alt.Row(
                "shares:N",
                title=None,
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontSize=11),
            ),
            column=alt.Column("auc:N", title=None),
        )
        .properties(width=90, height=70, padding={"right": 20})
    )
    return panels


ROW = Row(
    id="jain-figure3",
    paper="jain",
    title="Figure 3: the same over nine priors and purities and three AUC",
    data=(),
    run=_run,
    repetitions=1,
    quick=1,
    draw=_draw,
    caption="White: no AUC between 0 and 1 comes out, or a purity below the prior.",
)
