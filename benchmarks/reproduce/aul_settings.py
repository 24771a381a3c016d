"""The nine data sets of the AUL paper: classes, sizes, and scores of the printed AUC.

The paper names neither classes nor thresholds; its printed class priors fix them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduce.data import Dataset, load
from benchmarks.reproduce.rows import generator
from pumonitor.metrics.aul_theory import theorem_1_variance

__all__ = ["FREQUENCIES", "SETTINGS", "Scored", "Setting", "expected_error", "scored"]

FREQUENCIES: Final = (0.1, 0.2, 0.4)

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A data set of Table 1 as printed.

    Attributes
    ----------
    rule : str
        Which rows are positive, in words.
    is_positive : callable
        The same of a `Dataset`; NaN leaves a row out.
    aul_errors : tuple of float
        Printed MAE of AUL at each of `FREQUENCIES`.
    auc_errors : tuple of float
        Printed MAE of AUC there, by the best of the three class-prior estimators.
    """

    title: str
    rows: int
    class_prior: float
    auc: float
    aul: float
    aul_errors: tuple[float, float, float]
    auc_errors: tuple[float, float, float]
    rule: str
    is_positive: Callable[[Dataset], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Scores whose AUC is the printed one.

    Attributes
    ----------
    model_auc : float
        AUC of the trees alone.
    noise : float
        Share of noise mixed in, on the scale of normal scores.
    """

    is_positive: BoolArray
    scores: FloatArray
    model_auc: float
    noise: float


def _above(threshold: float) -> Callable[[Dataset], FloatArray]:
    return lambda dataset: (dataset.target > threshold).astype(np.float64)


def _equal(value: Any) -> Callable[[Dataset], FloatArray]:
    return lambda dataset: (dataset.target == value).astype(np.float64)


def _family(dataset: Dataset) -> FloatArray:
    return np.asarray(dataset.meta["meta_family"] == "Leptodactylidae", dtype=np.float64)


def _red_soil(dataset: Dataset) -> FloatArray:
    is_train = dataset.meta["meta_split"] == "train"
    return np.asarray(np.where(is_train, dataset.target == 1, np.nan), dtype=np.float64)


SETTINGS: Final[dict[str, Setting]] = {
    "abalone": Setting(
        title="Abalone", rows=4177, class_prior=0.498, auc=0.807, aul=0.654,
        aul_errors=(0.014, 0.008, 0.005), auc_errors=(0.035, 0.031, 0.027),
        rule="ten rings or more", is_positive=_above(9.5),
    ),
    "airfoil": Setting(
        title="Airfoil", rows=1503, class_prior=0.483, auc=0.845, aul=0.678,
        aul_errors=(0.019, 0.012, 0.009), auc_errors=(0.088, 0.048, 0.026),
        rule="louder than 126 dB", is_positive=_above(126.0),
    ),
    "anuran": Setting(
        title="Anuran", rows=4000, class_prior=0.614, auc=0.887, aul=0.649,
        aul_errors=(0.011, 0.007, 0.004), auc_errors=(0.058, 0.040, 0.024),
        rule="family Leptodactylidae", is_positive=_family,
    ),
    "concrete": Setting(
        title="Concrete", rows=1030, class_prior=0.472, auc=0.875, aul=0.698,
        aul_errors=(0.022, 0.016, 0.009), auc_errors=(0.091, 0.061, 0.041),
        rule="stronger than 36 MPa", is_positive=_above(36.0),
    ),
    "landsat": Setting(
        title="Landsat", rows=4435, class_prior=0.242, auc=0.756, aul=0.694,
        aul_errors=(0.015, 0.011, 0.007), auc_errors=(0.018, 0.012, 0.008),
        rule="red soil, training part", is_positive=_red_soil,
    ),
    "mushroom": Setting(
        title="Mushroom", rows=4000, class_prior=0.518, auc=0.942, aul=0.713,
        aul_errors=(0.011, 0.006, 0.004), auc_errors=(0.028, 0.021, 0.018),
        rule="edible", is_positive=_equal("e"),
    ),
    "pageblocks": Setting(
        title="Pageblock", rows=4000, class_prior=0.898, auc=0.891, aul=0.540,
        aul_errors=(0.011, 0.008, 0.005), auc_errors=(0.177, 0.110, 0.111),
        rule="text", is_positive=_equal(1),
    ),
    "spambase": Setting(
        title="Spambase", rows=4601, class_prior=0.394, auc=0.841, aul=0.706,
        aul_errors=(0.014, 0.008, 0.005), auc_errors=(0.037, 0.018, 0.008),
        rule="spam", is_positive=_equal(1),
    ),
    "waveform": Setting(
        title="Waveform", rows=4000, class_prior=0.329, auc=0.926, aul=0.785,
        aul_errors=(0.009, 0.005, 0.004), auc_errors=(0.073, 0.025, 0.028),
        rule="the second wave", is_positive=_equal(1),
    ),
}  # fmt: skip
"""By the name of the data set, in the order of Table 1."""


@lru_cache(maxsize=len(SETTINGS))
def scored(name: str) -> Scored:
    """Cross-validated scores of boosted trees, with as much noise as brings AUC to the print.

    The paper's classifiers are "not too bad nor totally perfect"; how they were held back is not
    said. Normal noise on the normal scores of the ranks keeps the shape of the trees' ranking.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    setting, dataset = SETTINGS[name], load(name)
    rng = generator(f"aul-{name}", 0, purpose="rows and noise")
    kept = _sample(setting, setting.is_positive(dataset), rng)
    is_positive = setting.is_positive(dataset)[kept] == 1
    scores = cross_val_predict(
        HistGradientBoostingClassifier(max_iter=50, random_state=0),
        dataset.features[kept],
        is_positive,
        method="decision_function",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    normal, noise = _normal_scores(scores), rng.standard_normal(len(kept))
    low, high = 0.0, 1.0
    for _ in range(40):
        share = 0.5 * (low + high)
        auc = roc_auc_score(is_positive, (1 - share) * normal + share * noise)
        low, high = (share, high) if auc > setting.auc else (low, share)
    return Scored(
        is_positive=is_positive,
        scores=np.asarray((1 - low) * normal + low * noise),
        model_auc=float(roc_auc_score(is_positive, scores)),
        noise=low,
    )


def _sample(setting: Setting, classes: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """As many rows as printed, of both classes as the data have them."""
    known = np.flatnonzero(~np.isnan(classes))
    if len(known) <= setting.rows:
        return known
    positives = round(setting.rows * float(classes[known].mean()))
    chosen = [
        rng.choice(known[classes[known] == value], size, replace=False)
        for value, size in ((1.0, positives), (0.0, setting.rows - positives))
    ]
    return np.sort(np.concatenate(chosen))


def _normal_scores(scores: FloatArray) -> FloatArray:
    ranks = stats.rankdata(scores)
    return np.asarray(stats.norm.ppf((ranks - 0.5) / len(scores)))


def expected_error(of: Scored, frequency: float) -> float:
    """MAE of the observed AUL by Theorem 1, the mean of many placements being normal."""
    placements = (stats.rankdata(of.scores) - 0.5) / len(of.scores)
    positives = int(of.is_positive.sum())
    variance = theorem_1_variance(
        float(placements[of.is_positive].var()),
        positives=positives,
        labeled=round(frequency * positives),
    )
    return float(np.sqrt(2 / np.pi * variance))
