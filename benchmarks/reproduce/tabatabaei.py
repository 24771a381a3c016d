"""Tabatabaei, Klein, Hoogendoorn (2020): F1 from the label frequency, against the LL score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from benchmarks.datasets import DatasetMissingError
from benchmarks.reproduce import tabatabaei_charts as charts
from benchmarks.reproduce import tabatabaei_table2
from benchmarks.reproduce.data import UNPUBLISHED, load
from benchmarks.reproduce.rows import (
    Figure,
    Report,
    Row,
    RowResult,
    generator,
)
from benchmarks.reproduce.tabatabaei_bounds import (
    elkan_noto_over_frequency,
    pool_with_f1,
    scatter_of_f1,
)
from benchmarks.reproduce.tabatabaei_inversions import correct_frequency, misjudged_frequency
from benchmarks.reproduce.tabatabaei_simulation import (
    Pool,
    estimated_f1,
    estimated_ll,
    generated_points,
    heart_forests,
    iris_hyperplanes,
    labels_of_size,
)
from pumonitor.metrics import f1, ll_score

__all__ = ["ROWS"]

_lines = partial(generated_points, classifiers=100)
_virginica = partial(iris_hyperplanes, classifiers=100, positive="virginica")
_forests = partial(heart_forests, classifiers=100)


def _unpublished(_repetitions: int, _report: Report) -> RowResult:
    raise DatasetMissingError("vumc_health", UNPUBLISHED["vumc_health"])


def _public_functions(repetitions: int, report: Report) -> RowResult:
    """The scores of many classifiers at once, against the public functions on rows."""
    row_id = "tabatabaei-public-functions"
    apart_f1, apart_ll = 0.0, 0.0
    for repetition in range(repetitions):
        rng = generator(row_id, repetition)
        pool = generated_points(rng, classifiers=1)
        size = rng.integers(2, pool.positives, size=1)
        labeled = labels_of_size(pool.is_positive, size, rng)
        labels, scores = labeled[0].astype(np.int8), pool.flagged[0].astype(np.float64)
        prior = float(pool.is_positive.mean())
        public = f1(labels, scores, class_prior=prior).value
        apart_f1 = max(apart_f1, abs(public - float(estimated_f1(pool, labeled)[0, 0])))
        public = ll_score(labels, scores).value
        apart_ll = max(apart_ll, abs(public - float(estimated_ll(pool, labeled)[0, 0])))
        report(repetition + 1, repetitions)
    figures = tuple(
        Figure(
            name=f"largest difference between {name} on rows and its formula on counts",
            ours=value,
            error=0.0,
            printed=0.0,
            rule="near",
            tolerance=1e-12,
            why="The other rows use the formula, 100 classifiers and labelings at a time.",
        )
        for name, value in (("pumonitor.metrics.f1", apart_f1), ("ll_score", apart_ll))
    )
    return RowResult(figures=figures)


def _figure2(row_id: str, repetitions: int, report: Report) -> RowResult:
    rng = generator(row_id, 0, purpose="data")
    if row_id.endswith("iris"):
        dataset = load("iris")
        span = dataset.features.max(axis=0) - dataset.features.min(axis=0)
        features = (dataset.features - dataset.features.min(axis=0)) / span
        is_positive = dataset.target == "virginica"
    else:
        features = rng.random((200, 2))
        is_positive = features[:, 0] + 0.2 < features[:, 1]
    return elkan_noto_over_frequency(row_id, features, is_positive, repetitions, report)


def _figure3(row_id: str, repetitions: int, report: Report) -> RowResult:
    make = (
        partial(iris_hyperplanes, classifiers=100, positive="setosa")
        if row_id.endswith("iris")
        else _lines
    )
    pool = pool_with_f1(generator(row_id, 0, purpose="classifier"), make, value=0.44)
    return scatter_of_f1(row_id, pool, repetitions, report)


_SCATTER: Final = (
    "Each point is one classifier of the first run: its F1 as estimated (blue) and its LL score "
    "(orange) against its true F1. On the line an estimate is right."
)
_FREQUENCIES: Final = (
    "Elkan-Noto's estimate of the label frequency over the true one: mean, 10% to 90% of the runs "
    "(dark) and all of them (light). On the dotted line it is right."
)
_STRIP: Final = (
    "Each grey point is F1 as estimated from one random labeling. Lines: computed mean and mean "
    "plus and minus one standard deviation. Points on them: the same from the labelings."
)
_PAIRS: Final = (
    "Share of pairs of classifiers put in the wrong order, mean and 10% to 90% of the runs, over "
    "the label frequency."
)
_FACTORS: Final = (
    "Mean share of pairs in the wrong order when the label frequency is misjudged by a factor. LL "
    "(dashed) does not use it."
)


_TWICE: Final = (
    "The text has F1 do worse at half the frequency only. Here it does worse at twice the "
    "frequency too, by little, and under each reading of what the text leaves open: -.009 where "
    "lines flag what lies above them, -.001 below, -.004 a random side, -.003 the better side "
    "(60 data sets each)."
)
_ONE_SET: Final = (
    "25 hyperplanes a run, as in the authors' notebook, which draws them once for all its "
    "labelings; a hundred such sets here."
)
_AS_TABLE_2: Final = "Forests trained and judged as for Table 2, which the text leaves open."


def _rows() -> tuple[Row, ...]:
    def row(name: str, title: str, **rest: Any) -> Row:
        return Row(id=f"tabatabaei-{name}", paper="tabatabaei", title=title, **rest)

    def of_pool(
        name: str, run: Callable[..., RowResult], make: Any, **options: Any
    ) -> Callable[[int, Report], RowResult]:
        return partial(_with_pool, f"tabatabaei-{name}", run, make, **options)

    table = {"draw": charts.scatter, "caption": _SCATTER, "quick": 5}
    second = {"draw": charts.label_frequency, "caption": _FREQUENCIES, "quick": 5}
    third = {"draw": charts.strip, "caption": _STRIP, "quick": 30}
    fourth = {"draw": charts.inversions, "caption": _PAIRS, "quick": 10}
    fifth = {"draw": charts.factors, "caption": _FACTORS, "quick": 10}
    pairs = {
        "generated": ("generated data", _lines, (), 0.05, 200),
        "iris": ("iris", _virginica, ("iris",), 0.02, 100),
        "heart": ("heart disease", _forests, ("heart_cleveland",), 0.02, 100),
    }
    one_set = partial(iris_hyperplanes, classifiers=25, positive="virginica")
    return (
        row(
            "table2-generated",
            "Table 2, generated data, label frequency .30",
            data=(),
            run=tabatabaei_table2.generated,
            repetitions=200,
            **table,
        ),
        row(
            "table2-iris",
            "Table 2, iris, label frequency .30",
            data=("iris",),
            run=tabatabaei_table2.iris,
            repetitions=100,
            **table,
        ),
        row(
            "table2-heart",
            "Table 2, heart disease, label frequency .30",
            data=("heart_cleveland",),
            run=tabatabaei_table2.heart,
            repetitions=100,
            **table,
        ),
        row(
            "table2-health",
            "Table 2, health",
            data=("vumc_health",),
            run=_unpublished,
            repetitions=1,
            quick=1,
        ),
        row(
            "public-functions",
            "The formulas used here are the library's public functions",
            data=(),
            run=_public_functions,
            repetitions=100,
            quick=10,
        ),
        row(
            "figure2-generated",
            "Figure 2a: estimating the label frequency, generated data",
            data=(),
            run=partial(_figure2, "tabatabaei-figure2-generated"),
            repetitions=50,
            **second,
        ),
        row(
            "figure2-iris",
            "Figure 2b: estimating the label frequency, iris",
            data=("iris",),
            run=partial(_figure2, "tabatabaei-figure2-iris"),
            repetitions=50,
            **second,
        ),
        row(
            "figure3-generated",
            "Figure 3: scatter of estimated F1, generated data",
            data=(),
            run=partial(_figure3, "tabatabaei-figure3-generated"),
            repetitions=100,
            **third,
        ),
        row(
            "figure3-iris",
            "Figure 3: scatter of estimated F1, iris (setosa)",
            data=("iris",),
            run=partial(_figure3, "tabatabaei-figure3-iris"),
            repetitions=100,
            **third,
        ),
        *(
            row(
                f"figure4-{key}",
                f"Figure 4: inversions, {where}",
                data=data,
                run=of_pool(
                    f"figure4-{key}",
                    correct_frequency,
                    make,
                    claimed=claimed,
                    note=_AS_TABLE_2 if key == "heart" else "",
                ),
                repetitions=repetitions,
                **fourth,
            )
            for key, (where, make, data, claimed, repetitions) in pairs.items()
        ),
        row(
            "figure5-generated",
            "Figure 5: label frequency misjudged, generated data",
            data=(),
            run=of_pool(
                "figure5-generated",
                misjudged_frequency,
                _lines,
                worse=(0.5,),
                single_set=False,
                note=_TWICE,
            ),
            repetitions=200,
            **fifth,
        ),
        row(
            "figure5-iris",
            "Figure 5: label frequency misjudged, iris",
            data=("iris",),
            run=of_pool(
                "figure5-iris",
                misjudged_frequency,
                one_set,
                worse=(0.5, 2.0),
                single_set=True,
                note=_ONE_SET,
            ),
            repetitions=100,
            **fifth,
        ),
    )


def _with_pool(
    row_id: str,
    run: Callable[..., RowResult],
    make: Callable[[np.random.Generator], Pool],
    repetitions: int,
    report: Report,
    *,
    note: str = "",
    **options: Any,
) -> RowResult:
    return replace(run(row_id, make, repetitions, report, **options), note=note)


ROWS: Final = _rows()
