"""Jain et al. (2017), Figure 4: the recovered AUC over what is assumed of prior and purity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.reproduce.rows import Figure, Report, Row, RowResult
from pumonitor.metrics.conversions import corrected_auc

if TYPE_CHECKING:
    import altair

__all__ = ["ROW"]


def _run(repetitions: int, report: Report) -> RowResult:
    """Exact: error of the recovered AUC over what is assumed of both shares."""
    prior, purity, auc = 0.25, 0.75, 0.9
    observed = (purity - prior) * auc + 0.5 * (1 - (purity - prior))
    grid = np.linspace(0.01, 0.99, 50)
    cells = []
    for assumed in grid:
        for pure in grid:
            if pure <= assumed:
                continue
            found = corrected_auc(observed, unlabeled_prior=assumed, label_purity=pure)
            if 0 <= found <= 1:
                cells.append(
                    {
                        "prior": round(float(assumed), 3),
                        "purity": round(float(pure), 3),
                        "error": abs(found - auc),
                    }
                )
    report(repetitions, repetitions)
    on_line = corrected_auc(observed, unlabeled_prior=0.15, label_purity=0.65)
    border = prior + (purity - prior) * (2 * auc - 1)
    at_border = corrected_auc(observed, unlabeled_prior=prior, label_purity=border)

    def exact(name: str, ours: float, printed: float) -> Figure:
        return Figure(name=name, ours=ours, error=0.0, printed=printed, rule="near", tolerance=1e-9)

    return RowResult(
        figures=(
            Figure(
                name="uncorrected AUC at prior .25, label purity .75, AUC .9",
                ours=observed,
                error=0.0,
                printed=0.8,
                rule="shown",
                why="the print does not follow from equation 4: (.75 - .25) .9 + .25 = .70",
            ),
            exact("AUC recovered where purity - prior is right", on_line, auc),
            exact("AUC recovered at purity = prior + (b - a)(2 AUC - 1)", at_border, 1.0),
        ),
        series={"cells": cells},
    )


def _draw(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["cells"]))
        .mark_rect()
        .encode(
            x=alt.X("prior:Q", bin=alt.Bin(maxbins=50), title="Assumed prior in U"),
            y=alt.Y("purity:Q", bin=alt.Bin(maxbins=50), title="Assumed label purity"),
            color=alt.Color("mean(error):Q", title="Error of AUC"),
        )
        .properties(width=340, height=320)
    )


ROW = Row(
    id="jain-figure4",
    paper="jain",
    title="Figure 4: what wrong shares do to the recovered AUC",
    data=(),
    run=_run,
    repetitions=1,
    quick=1,
    draw=_draw,
    caption="True prior .25, purity .75, AUC .9; white: no AUC between 0 and 1 comes out.",
)
