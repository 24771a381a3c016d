"""One column of values, from whatever array it comes in; missing values are refused, not filled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError


def as_array(values: Any, *, name: str, missing_remedy: str) -> NDArray[Any]:
    """One-dimensional numpy array of any array-like."""
    if isinstance(values, np.ma.MaskedArray):
        refuse_missing(np.ma.getmaskarray(values), name=name, remedy=missing_remedy)
        values = values.data
    if not isinstance(values, np.ndarray):
        values = _from_series(values, name=name, missing_remedy=missing_remedy)
    if values.ndim == 2:
        msg = (
            f"{name} has {values.shape[1]} columns (shape {values.shape}): pass one column, for "
            f"class probabilities the positive class, {name}[:, 1]"
        )
        raise InputError(msg)
    if values.ndim != 1:
        msg = (
            f"{name} must be one-dimensional, got {values.tolist()!r:.40}: pass the column itself, "
            "not its name or one value"
        )
        raise InputError(msg)
    if values.dtype == object and len(values) and hasattr(values[0], "__len__"):
        _refuse_lists(values[0], name=name)
    if values.dtype == object:
        missing = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
        refuse_missing(missing, name=name, remedy=missing_remedy)
    return np.asarray(values)


def _refuse_lists(first: Any, *, name: str) -> None:
    if not isinstance(first, str | bytes):
        msg = (
            f"{name} holds lists of {len(first)} values: pass one column, for class probabilities "
            "that of the positive class"
        )
        raise InputError(msg)


def is_missing(value: Any) -> bool:
    """None, NaN, and pandas' own NA and NaT, told by name so that pandas need not be there."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _from_series(values: Any, *, name: str, missing_remedy: str) -> NDArray[Any]:
    if isinstance(values, list | tuple | range):
        try:
            return np.asarray(values)
        except ValueError:  # rows of unequal length
            return np.asarray(values, dtype=object)
    import narwhals as nw

    if hasattr(values, "columns") and len(getattr(values, "shape", ())) == 2:
        columns = ", ".join(map(str, list(getattr(values, "column_names", values.columns))[:5]))
        msg = f"{name} is a data frame with columns {columns}: pass one column of it"
        raise InputError(msg)
    if type(values).__module__.startswith("pyarrow") and not hasattr(values, "chunks"):
        import pyarrow

        values = pyarrow.chunked_array([values])
    try:
        series = nw.from_native(values, series_only=True)
    except TypeError:
        return np.asarray(values)
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        msg = f"{name} is categorical: convert it to numbers first"
        raise InputError(msg)
    refuse_missing(np.asarray(series.is_null().to_numpy()), name=name, remedy=missing_remedy)
    return np.asarray(series.to_numpy())


def refuse_missing(missing: NDArray[np.bool_], *, name: str, remedy: str) -> None:
    """Say how many are missing and where the first is."""
    count = int(np.count_nonzero(missing))
    if count:
        first = int(np.argmax(missing))
        where = f"{count} missing values in {len(missing)} rows, first at row {first}"
        msg = f"{name} has {where}: {remedy}"
        raise InputError(msg)


def refuse_empty(values: NDArray[Any], *, name: str) -> None:
    """Say that there are no rows."""
    if len(values) == 0:
        msg = f"{name} is empty: there is nothing to evaluate; check the filter or the join"
        raise InputError(msg)


def check_same_index(labels: Any, scores: Any, *, name: str = "scores") -> None:
    """Refuse two pandas series that say by their index that their rows do not correspond."""
    first: Any = getattr(labels, "index", None)
    second: Any = getattr(scores, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or len(first) != len(second):
        return
    if not first.equals(second):
        msg = (
            f"labels and {name} have different indexes, so their rows may not belong together: "
            f"align them ({name}.loc[labels.index]), or pass .to_numpy() of both if the order is "
            "right"
        )
        raise InputError(msg)
