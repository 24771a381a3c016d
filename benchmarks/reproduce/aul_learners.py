"""AUL is a better optimization metric in PU learning: Figure 3, classifiers of either metric."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import altair
import numpy as np

from benchmarks.challengers.learning import held_out_auc, task
from benchmarks.reproduce.aul_settings import SETTINGS
from benchmarks.reproduce.rows import (
    Figure,
    Report,
    Row,
    RowResult,
    generator,
    monte_carlo_error,
)
from pumonitor.sklearn import PUAUCClassifier, PUAULClassifier

__all__ = ["ROWS"]

_FREQUENCY: Final = 0.1
_PRIOR_OFF: Final = 0.1
_SEEDS: Final = 8
_ALIKE: Final = 0.002
_MODELS: Final = ("PU_AUL", "PU_AUC, true class prior", "PU_AUC, class prior .1 higher")


def _figure3(name: str, repetitions: int, report: Report) -> RowResult:
    """AUC of held-out rows of one data set, where a tenth of the positives are confirmed."""
    known, found = task(name), list[tuple[float, ...]]()
    for seed in range(repetitions):
        rng = generator(f"aul-figure3-{name}", seed)
        train, rest = known.halves(rng)
        labeled = known.positive[train] & (rng.random(len(train)) < _FREQUENCY)
        prior = float(known.positive[train].mean())
        models = (
            PUAULClassifier(random_state=seed),
            PUAUCClassifier(class_prior=prior, random_state=seed),
            PUAUCClassifier(class_prior=min(prior + _PRIOR_OFF, 0.999), random_state=seed),
        )
        found.append(tuple(held_out_auc(one, known, train, labeled, rest) for one in models))
        report(seed + 1, repetitions)
    reached = np.array(found)
    figures = [
        Figure(
            name=f"AUC of {model}",
            ours=float(np.nanmean(column)),
            error=monte_carlo_error(column[~np.isnan(column)]),
            printed=None,
            rule="shown",
            why=_without_minimum(column),
        )
        for model, column in zip(_MODELS, reached.T, strict=True)
        if not np.isnan(column).all()
    ]
    ahead = reached[:, 0] - reached[:, 1]
    if not np.isnan(ahead).all():
        figures.append(
            Figure(
                name="AUC of PU_AUL less that of PU_AUC with the true class prior",
                ours=float(np.nanmean(ahead)),
                error=monte_carlo_error(ahead[~np.isnan(ahead)]),
                printed=0.0,
                rule="at least",
                tolerance=_ALIKE,
                why="Pattern: the picture has PU_AUL above on every set; no number is printed.",
            )
        )
    bars = [
        {"model": model, "auc": float(value)}
        for model, column in zip(_MODELS, reached.T, strict=True)
        for value in column[~np.isnan(column)]
    ]
    return RowResult(figures=tuple(figures), series={"points": bars})


def _without_minimum(column: np.ndarray[Any, Any]) -> str:
    none = int(np.isnan(column).sum())
    return f"In {none} of {len(column)} draws the loss has no minimum." if none else ""


def points(series: Mapping[str, Any]) -> altair.Chart:
    """A point for each draw, a line for each classifier."""
    return (
        altair.Chart(altair.Data(values=series["points"]))
        .mark_point(filled=True, opacity=0.7)
        .encode(
            x=altair.X("auc:Q", title="AUC of rows held out", scale=altair.Scale(zero=False)),
            y=altair.Y("model:N", title=None, sort=list(_MODELS)),
            color=altair.Color("model:N", legend=None, sort=list(_MODELS)),
        )
        .properties(width=420, height=90)
    )


ROWS: Final = tuple(
    Row(
        id=f"aul-figure3-{name}",
        paper="aul",
        title=f"Figure 3, {setting.title}: classifiers of AUL and of AUC",
        data=(name,),
        run=partial(_figure3, name),
        repetitions=_SEEDS,
        quick=1,
        draw=points,
        caption="AUC of held-out rows at a label frequency of .1, a point for each draw.",
    )
    for name, setting in SETTINGS.items()
)
