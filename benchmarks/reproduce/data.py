"""Data sets of the papers as numbers: features, target, and what is neither."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.datasets import DatasetMissingError

if TYPE_CHECKING:
    import pandas

__all__ = ["UNPUBLISHED", "Dataset", "as_numbers", "available", "load"]

UNPUBLISHED: Final = {
    "vumc_health": "event logs of the VU University Medical Center were never published",
}
"""Data sets of the papers that nobody outside can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set as published.

    Attributes
    ----------
    name : str
    features : ndarray of shape (rows, columns)
        Numbers; every text column is one column for each of its values. Missing cells are NaN in
        numbers and a value of their own in text.
    target : ndarray of shape (rows,)
        Not binarised.
    meta : dict of str to ndarray
        Columns that are no features: the split, a second target.
    """

    name: str
    features: NDArray[np.float64]
    target: NDArray[Any]
    meta: dict[str, NDArray[Any]]


def available(name: str) -> bool:
    """Whether `load` would find it."""
    return name not in UNPUBLISHED and datasets.available(name)


@lru_cache(maxsize=8)
def load(name: str) -> Dataset:
    """Load a data set by name.

    Raises
    ------
    DatasetMissingError
        If it is nowhere.
    """
    if name in UNPUBLISHED:
        raise DatasetMissingError(name, UNPUBLISHED[name])
    return as_numbers(name, datasets.load_table(name))


def as_numbers(name: str, frame: pandas.DataFrame) -> Dataset:
    """The data set of a table whose columns are `target`, `meta_*` and features."""
    import pandas

    meta = [column for column in frame.columns if column.startswith("meta_")]
    features = frame.drop(columns=["target", *meta])
    text = [
        column
        for column in features.columns
        if not pandas.api.types.is_numeric_dtype(features[column])
    ]
    numbers = pandas.get_dummies(features, columns=text, dummy_na=False, dtype=np.float64)
    absent = [
        features[column].isna().to_numpy() for column in text if features[column].isna().any()
    ]
    columns = [numbers.to_numpy(dtype=np.float64), *(mark[:, None] * 1.0 for mark in absent)]
    matrix = np.hstack(columns)
    matrix.flags.writeable = False
    return Dataset(
        name=name,
        features=matrix,
        target=np.asarray(frame["target"].to_numpy()),
        meta={column: np.asarray(frame[column].to_numpy()) for column in meta},
    )
