"""Eleven real tasks: error of every estimator, coverage of `auto`, for two classifiers' scores.

The scores of a draw are computed once and kept in a folder; a change of scikit-learn, of the
classifiers, or of how rows are drawn makes new ones.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import sklearn

from benchmarks.datasets import DatasetMissingError
from benchmarks.prior import scores as scores_module
from benchmarks.prior.elsewhere import MEASURED_ELSEWHERE, Elsewhere
from benchmarks.prior.runs import MEDIAN, RUNNABLE, Sample, run, summary, with_median
from benchmarks.prior.scores import CLASSIFIERS
from benchmarks.prior.tables import FigureTable, watched
from benchmarks.prior.tasks import REPORTED, Task, draw

__all__ = ["FOLDER", "PRIORS", "present", "real_sample", "real_tables"]

FOLDER: Final = Path(".cache") / "benchmarks-prior"
PRIORS: Final = (0.1, 0.3, 0.5)
_BY_TASK = ("auto", MEDIAN, "dedpul", "bbe")


def present(tasks: Iterable[Task] = REPORTED) -> list[Task]:
    """The tasks whose data are there."""
    found = []
    for task in tasks:
        try:
            task.rows()
        except DatasetMissingError:
            continue
        found.append(task)
    return found


def real_sample(
    task: Task, classifier: str, prior: float, seed: int, *, folder: Path, fresh: bool = False
) -> Sample:
    """Rows of a task scored by models that did not see them, from the folder if they are there."""
    path = folder / f"{_key(task, classifier, prior, seed)}.npz"
    if fresh or not path.is_file():
        stream = zlib.crc32(task.name.encode())
        drawn = draw(task, prior, np.random.default_rng([seed, int(1000 * prior), stream]))
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all; savez adds its own ending to a name without it.
        part = path.with_suffix(".part.npz")
        np.savez_compressed(
            part,
            labels=drawn.labels,
            scores=CLASSIFIERS[classifier](drawn, seed),
            unlabeled_prior=drawn.unlabeled_prior,
        )
        part.replace(path)
    with np.load(path) as stored:
        return Sample(
            labels=stored["labels"],
            scores=stored["scores"],
            unlabeled_prior=float(stored["unlabeled_prior"]),
        )


def real_tables(
    *,
    seeds: int,
    folder: Path = FOLDER,
    fresh: bool = False,
    tasks: Sequence[Task] = REPORTED,
    priors: Sequence[float] = PRIORS,
    classifiers: Sequence[str] = ("boosted trees", "forest"),
    methods: Sequence[str] = RUNNABLE,
) -> Iterator[FigureTable]:
    """All methods by classifier, intervals of `auto`, and task by task."""
    there = present(tasks)
    absent = [task.name for task in tasks if task not in there]
    missing = (f"Without {', '.join(absent)}: no data.",) if absent else ()
    rows = []
    cells = list(product(classifiers, there, priors, range(seeds)))
    for classifier, task, prior, seed in watched(cells, "real tasks"):
        sample = real_sample(task, classifier, prior, seed, folder=folder, fresh=fresh)
        where = {"classifier": classifier, "task": task.name, "prior": prior}
        rows += [where | found for found in with_median(run(name, sample) for name in methods)]
    protocol = (
        f"{len(there)} real tasks, priors {', '.join(f'{prior:g}' for prior in priors)}, "
        f"{seeds} seeds"
    )
    if not rows:
        yield FigureTable(title=protocol, frame=pd.DataFrame(), notes=missing)
        return
    runs = pd.DataFrame(rows)
    for classifier, group in runs.groupby("classifier", sort=False):
        frame = summary(group).sort_values("MAE", ignore_index=True)
        known = [MEASURED_ELSEWHERE.get(method, Elsewhere()) for method in frame["method"]]
        column = str(classifier).replace(" ", "_")
        frame["elsewhere MAE"] = [getattr(figures, column, math.nan) for figures in known]
        yield FigureTable(title=f"{protocol}, {classifier}", frame=frame, notes=missing)
    if runs["method"].isin(_BY_TASK).any():
        yield _by_task(runs, protocol)
    if "auto" in methods:
        yield _intervals(runs, protocol)


def _by_task(runs: pd.DataFrame, protocol: str) -> FigureTable:
    rows = []
    for (task, classifier), part in runs.groupby(["task", "classifier"], sort=False):
        row = {"task": task, "classifier": classifier}
        for found in summary(part[part["method"].isin(_BY_TASK)]).to_dict("records"):
            row |= {f"{found['method']} {figure}": found[figure] for figure in ("MAE", "bias")}
        rows.append(row)
    return FigureTable(title=f"By task: {protocol}", frame=pd.DataFrame(rows))


def _intervals(runs: pd.DataFrame, protocol: str) -> FigureTable:
    """Of `auto`: by classifier, and by task."""
    runs = runs[runs["method"] == "auto"]

    def rows(part: pd.DataFrame) -> dict[str, float]:
        return {"coverage": float(part["held"].mean()), "width": float(part["width"].median())}

    frame = pd.DataFrame(
        [
            {"task": task}
            | {
                f"{classifier} {figure}": value
                for classifier, of_classifier in part.groupby("classifier", sort=False)
                for figure, value in rows(of_classifier).items()
            }
            for task, part in [("all", runs), *runs.groupby("task", sort=False)]
        ]
    )
    return FigureTable(
        title=f"95% intervals of auto: {protocol}",
        frame=frame,
        notes=("Widths are medians. Nothing in the data bounds the error of reducible negatives.",),
    )


def _key(task: Task, classifier: str, prior: float, seed: int) -> str:
    made_by = "".join(
        [inspect.getsource(scores_module), inspect.getsource(draw), task.rule, sklearn.__version__]
    )
    digest = hashlib.sha256(made_by.encode()).hexdigest()[:12]
    return "-".join([task.name, classifier, f"{prior:g}", str(seed), digest]).replace(" ", "_")
