"""One estimate on one sample, and the summary of many."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.prior import METHODS, TwoSamples, estimate_from_table

if TYPE_CHECKING:
    import pandas

__all__ = ["MEDIAN", "RUNNABLE", "Sample", "run", "summary", "value_from_table", "with_median"]

RUNNABLE: Final = (*(name for name, known in METHODS.items() if known.reads != "reference"), "auto")
"""Methods that two samples are enough for."""
MEDIAN: Final = "median of three"
"""Of dedpul, bbe and pulscar: the best known before, for comparison only."""

_CELLS = 512  # as many as `estimate_from_table` leaves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Labeled and unlabeled rows, case-control, and the truth.

    Attributes
    ----------
    labels, scores : ndarray of shape (rows,)
    unlabeled_prior : float
        The true one.
    probabilities : ndarray of shape (rows,) or None
        P(labeled) of each row, where the scores are something else.
    """

    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    unlabeled_prior: float
    probabilities: NDArray[np.float64] | None = None

    def read_by(self, method: str) -> NDArray[np.float64]:
        """The scores that this method can use."""
        if self.probabilities is None or method == "auto":
            return self.scores
        return self.probabilities if METHODS[method].reads == "probabilities" else self.scores


def value_from_table(method: str, table: ScoreTable) -> float:
    """The estimate alone: what `estimate_from_table` makes an interval around."""
    return float(METHODS[method](TwoSamples.from_table(table.compress(_CELLS)))[0])


def run(method: str, sample: Sample, *, interval: bool = False) -> dict[str, Any]:
    """Error and seconds of an estimate, from the arrays; of `auto` always with its interval.

    An estimator that refuses leaves NaN and says why.
    """
    found: dict[str, Any] = {"method": method, "error": math.nan, "failure": ""}
    started = time.perf_counter()
    try:
        table = ScoreTable.from_arrays(sample.labels, sample.read_by(method))
        if method == "auto" or interval:
            estimate = estimate_from_table(table, method=method, scenario="case-control")
            value, low, high = estimate.unlabeled_prior, *estimate.unlabeled_prior_interval
            held = float(low <= sample.unlabeled_prior <= high)
            found |= {"held": held, "width": high - low}
        else:
            value = value_from_table(method, table)
        found["error"] = value - sample.unlabeled_prior
    except (InputError, ArithmeticError, np.linalg.LinAlgError) as error:
        found["failure"] = str(error)
    return found | {"seconds": time.perf_counter() - started}


def with_median(runs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs on one sample, and one more: the median of dedpul, bbe and pulscar."""
    runs = list(runs)
    three = [run["error"] for run in runs if run["method"] in ("dedpul", "bbe", "pulscar")]
    if len(three) < 3:
        return runs
    added = {"method": MEDIAN, "error": float(np.median(three)), "failure": ""}
    return [*runs, added | {"seconds": math.nan}]


def summary(runs: pandas.DataFrame, by: Sequence[str] = ("method",)) -> pandas.DataFrame:
    """MAE, bias and 95th percentile of the absolute error, where there is one; median seconds."""
    runs = runs.assign(absolute=runs["error"].abs(), failed=runs["failure"] != "")
    return (
        runs.groupby(list(by), sort=False)
        .agg(
            MAE=("absolute", "mean"),
            bias=("error", "mean"),
            p95=("absolute", lambda errors: errors.quantile(0.95)),
            seconds=("seconds", "median"),
            failed=("failed", "sum"),
        )
        .reset_index()
    )
