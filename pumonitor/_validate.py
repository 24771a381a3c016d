"""Read labels, scores and weights from whatever array they come in; refuse what has no meaning.

Every message names the argument, what is wrong, how often, where it is first seen and what to do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError, TooFewPositivesError

__all__ = [
    "MINIMUM_LABELED",
    "NEVER_LABELED",
    "as_labels",
    "as_propensities",
    "as_scores",
    "as_weights",
    "check_label_counts",
    "check_propensity_settings",
    "check_same_index",
    "row_weights",
    "scores_by_source",
]

FloatArray = NDArray[np.float64]

MINIMUM_LABELED = 2
"""Fewer confirmed positives than this have no spread, hence no interval."""


_MISSING_SCORE_REMEDY = "a row without a score was not scored; drop it or repair the scoring job"
_LABEL_REMEDY = "use 1 for a confirmed positive, 0 for unlabeled, -1 for a confirmed negative"

_MISSING_LABEL_REMEDY = (
    f"an unlabeled row must say 0, a missing label is not the same; {_LABEL_REMEDY}"
)


def _as_array(values: Any, *, name: str, missing_remedy: str) -> NDArray[Any]:
    """One-dimensional numpy array of any array-like; missing values are refused, never filled."""
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(values), name=name, remedy=missing_remedy)
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
        missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
        _refuse_missing(missing, name=name, remedy=missing_remedy)
    return np.asarray(values)


def _refuse_lists(first: Any, *, name: str) -> None:
    if not isinstance(first, str | bytes):
        msg = (
            f"{name} holds lists of {len(first)} values: pass one column, for class probabilities "
            "that of the positive class"
        )
        raise InputError(msg)


def _is_missing(value: Any) -> bool:
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
    _refuse_missing(np.asarray(series.is_null().to_numpy()), name=name, remedy=missing_remedy)
    return np.asarray(series.to_numpy())


def _refuse_missing(missing: NDArray[np.bool_], *, name: str, remedy: str) -> None:
    count = int(np.count_nonzero(missing))
    if count:
        first = int(np.argmax(missing))
        where = f"{count} missing values in {len(missing)} rows, first at row {first}"
        msg = f"{name} has {where}: {remedy}"
        raise InputError(msg)


def _refuse_empty(values: NDArray[Any], *, name: str) -> None:
    if len(values) == 0:
        msg = f"{name} is empty: there is nothing to evaluate; check the filter or the join"
        raise InputError(msg)


def as_labels(labels: Any, *, name: str = "labels") -> NDArray[np.int8]:
    """Labels as int8 of 1, 0 and -1.

    Examples
    --------
    >>> as_labels([True, False])
    array([1, 0], dtype=int8)
    >>> as_labels([1, 0, 2, 2])
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: labels has 2 values other than 1, 0 and -1 in 4 rows: 2 (2 \
times), first at row 2; use 1 for a confirmed positive, 0 for unlabeled, -1 for a confirmed negative
    """
    values = _as_array(
        labels,
        name=name,
        missing_remedy=_MISSING_LABEL_REMEDY,
    )
    _refuse_empty(values, name=name)
    if values.dtype == np.bool_:
        return values.view(np.int8)
    if values.dtype.kind == "f":
        _refuse_missing(
            np.isnan(values),
            name=name,
            remedy=_MISSING_LABEL_REMEDY,
        )
    if values.dtype.kind in "iuf":
        if values.dtype != np.int8:
            with np.errstate(invalid="ignore"):
                converted = values.astype(np.int8)
            # A value such as 257 wraps to 1 in int8: compare with the original before trusting it.
            if values.dtype.kind == "f" or (values.min() < -1 or values.max() > 1):
                _refuse_unknown(values, converted != values, name=name)
            values = converted
        if values.min() < -1 or values.max() > 1:
            _refuse_unknown(values, (values < -1) | (values > 1), name=name)
        return values
    if values.dtype == object:
        known = np.fromiter(
            (not isinstance(v, str | bytes) and v in (1, 0, -1) for v in values),
            dtype=bool,
            count=len(values),
        )
        _refuse_unknown(values, ~known, name=name)
        return values.astype(np.int8)
    _refuse_unknown(values, np.ones(len(values), dtype=bool), name=name)
    raise AssertionError  # pragma: no cover


def _refuse_unknown(values: NDArray[Any], unknown: NDArray[np.bool_], *, name: str) -> None:
    count = int(np.count_nonzero(unknown))
    if not count:
        return
    kinds, counts = np.unique(values[unknown].astype(str), return_counts=True)
    most = np.argsort(-counts)[:3]
    quote = "" if values.dtype.kind in "iuf" else "'"
    examples = ", ".join(f"{quote}{kinds[i]}{quote} ({counts[i]} times)" for i in most)
    hint = "" if quote == "" else f" (the column holds {values.dtype} values, not numbers)"
    msg = (
        f"{name} has {count} values other than 1, 0 and -1 in {len(values)} rows{hint}: "
        f"{examples}, first at row {int(np.argmax(unknown))}; {_LABEL_REMEDY}"
    )
    raise InputError(msg)


def as_scores(scores: Any, *, name: str = "scores") -> NDArray[Any]:
    """Scores as a float array (float32 kept), finite and not all equal.

    Examples
    --------
    >>> as_scores([0.1, float("nan")])
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: scores has 1 missing values (NaN) in 2 rows, first at row 1: a \
row without a score was not scored; drop it or repair the scoring job
    """
    values = _as_array(
        scores,
        name=name,
        missing_remedy=_MISSING_SCORE_REMEDY,
    )
    _refuse_empty(values, name=name)
    if values.dtype.kind in "iub":
        values = values.astype(np.float64)
    elif values.dtype == object:
        strings = sum(isinstance(value, str | bytes) for value in values)
        if strings:
            _refuse_text(strings, len(values), name=name)
        values = values.astype(np.float64)
    elif values.dtype.kind != "f":
        _refuse_text(len(values), len(values), name=name)
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        _refuse_not_finite(values, name=name)
    if low == high and len(values) > 1:
        msg = (
            f"{name} are all equal to {float(low):g} in {len(values)} rows: a constant score ranks "
            "nothing; check that the column holds the model's score"
        )
        raise InputError(msg)
    return values


def _refuse_text(count: int, rows: int, *, name: str) -> None:
    msg = (
        f"{name} holds text, not numbers, in {count} of {rows} rows: convert it, for example with "
        "astype(float)"
    )
    raise InputError(msg)


def _refuse_not_finite(values: NDArray[Any], *, name: str) -> None:
    missing = np.isnan(values)
    if missing.any():
        msg = (
            f"{name} has {int(missing.sum())} missing values (NaN) in {len(values)} rows, first at "
            f"row {int(np.argmax(missing))}: {_MISSING_SCORE_REMEDY}"
        )
        raise InputError(msg)
    infinite = np.isinf(values)
    msg = (
        f"{name} has {int(infinite.sum())} infinite values in {len(values)} rows, first at row "
        f"{int(np.argmax(infinite))}: clip the scores, or use probabilities in place of log-odds"
    )
    raise InputError(msg)


def as_weights(weights: Any, *, rows: int, name: str, low: float, high: float) -> NDArray[Any]:
    """Positive finite weights, one per row, with low < weight <= high."""
    values = _as_array(weights, name=name, missing_remedy="give every row a value")
    values = values.astype(np.float64)
    if len(values) != rows:
        msg = f"{name} must have one value per row: got {len(values)} for {rows} rows"
        raise InputError(msg)
    wrong = ~(np.isfinite(values) & (values > low) & (values <= high))
    count = int(np.count_nonzero(wrong))
    if count:
        first = int(np.argmax(wrong))
        bound = "" if np.isinf(high) else f" and at most {high:g}"
        msg = (
            f"{name} must be finite, above {low:g}{bound}: {count} of {rows} rows are not, first "
            f"at row {first} ({values[first]:g})"
        )
        raise InputError(msg)
    return values


def check_same_index(labels: Any, scores: Any) -> None:
    """Refuse two pandas series that say by their index that their rows do not correspond."""
    first: Any = getattr(labels, "index", None)
    second: Any = getattr(scores, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or len(first) != len(second):
        return
    if not first.equals(second):
        msg = (
            "labels and scores have different indexes, so their rows may not belong together: "
            "align them (scores.loc[labels.index]), or pass .to_numpy() of both if the order is "
            "right"
        )
        raise InputError(msg)


def scores_by_source(
    labels: Any, scores: NDArray[Any], label_source: Any
) -> dict[str, FloatArray] | None:
    """Scores of the labeled rows by where their label came from; a missing source is its own.

    Examples
    --------
    >>> found = scores_by_source([1, 1, 0], np.array([0.9, 0.4, 0.1]), ["desk", "bank", None])
    >>> {name: values.tolist() for name, values in found.items()}
    {'bank': [0.4], 'desk': [0.9]}
    """
    if label_source is None:
        return None
    values = label_source if isinstance(label_source, np.ndarray) else None
    if values is None:
        listed = label_source.to_list() if hasattr(label_source, "to_list") else list(label_source)
        values = np.array(listed, dtype=object)
    if len(values) != len(scores):
        msg = f"label_source must have one value per row: got {len(values)} for {len(scores)} rows"
        raise InputError(msg)
    is_labeled = as_labels(labels) == 1
    names = np.array(["unknown" if _is_missing(v) else str(v) for v in values[is_labeled]])
    labeled_scores = scores[is_labeled].astype(np.float64)
    return {str(name): labeled_scores[names == name] for name in np.unique(names)}


def check_label_counts(n_labeled: int, n_unlabeled: int) -> None:
    """Refuse data without enough confirmed positives, or without anything to compare with."""
    rows = n_labeled + n_unlabeled
    if n_labeled == 0:
        msg = (
            f"none of {rows} rows is a confirmed positive (label 1): nothing can be estimated "
            "until positives are confirmed; check the join of confirmations to predictions"
        )
        raise TooFewPositivesError(msg)
    if n_labeled < MINIMUM_LABELED:
        msg = (
            f"only {n_labeled} of {rows} rows is a confirmed positive: at least {MINIMUM_LABELED} "
            "are needed, some tens for useful intervals; evaluate a longer period"
        )
        raise TooFewPositivesError(msg)
    if n_unlabeled == 0:
        msg = (
            f"all {rows} rows are confirmed: no row is unlabeled (label 0), so there is no "
            "population to compare with; pass the rows that were scored but not confirmed as 0"
        )
        raise InputError(msg)


def row_weights(
    labels: NDArray[np.int8],
    sample_weight: Any,
    propensity: Any,
    *,
    detection_rate: float = 1.0,
    min_propensity: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Rows of the population, and positives, that each row stands for: w, and w / propensity."""
    rows = len(labels)
    weight = np.ones(rows)
    if sample_weight is not None:
        weight = as_weights(sample_weight, rows=rows, name="sample_weight", low=0.0, high=np.inf)
    represented = weight.copy()
    logged = as_propensities(
        labels, propensity, detection_rate=detection_rate, min_propensity=min_propensity
    )
    if logged is not None:
        is_labeled = labels == 1
        represented[is_labeled] /= np.maximum(detection_rate * logged[is_labeled], min_propensity)
    return weight, represented


def as_propensities(
    labels: NDArray[np.int8], propensity: Any, *, detection_rate: float, min_propensity: float
) -> FloatArray | None:
    """Propensities as they were given, one per row; checked on labeled rows, the only ones read.

    Examples
    --------
    >>> as_propensities(np.array([1, 0]), [0.0, 1.0], detection_rate=1.0, min_propensity=0.0)
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: propensity is 0 in 1 of 1 labeled rows, first at row 0: a row \
that had no chance of being labeled was labeled, so it was not found by the policy the column \
describes; give it the chance it had, or count it as unlabeled (0)
    """
    if propensity is None:
        if detection_rate != 1.0 or min_propensity != 0.0:
            name = "detection_rate" if detection_rate != 1.0 else "min_propensity"
            msg = f"{name} changes propensities, and there are none: give propensity as well"
            raise ValueError(msg)
        return None
    check_propensity_settings(detection_rate=detection_rate, min_propensity=min_propensity)
    values = _numbers_or_nan(propensity, name="propensity")
    if values.ndim == 0:
        values = np.full(len(labels), float(values))
    if values.shape != labels.shape:
        shape = f"{len(values)}" if values.ndim == 1 else f"shape {values.shape}"
        msg = f"propensity must have one value per row: got {shape} for {len(labels)} rows"
        raise InputError(msg)
    labeled = np.flatnonzero(labels == 1)
    read = values[labeled]
    if (read == 0).any():
        first = labeled[int(np.argmax(read == 0))]
        msg = (
            f"propensity is 0 in {np.count_nonzero(read == 0)} of {len(read)} labeled rows, first "
            f"at row {first}: {NEVER_LABELED}"
        )
        raise InputError(msg)
    wrong = ~((read > 0) & (read <= 1))
    if wrong.any():
        first = labeled[int(np.argmax(wrong))]
        msg = (
            f"propensity of labeled rows must be finite, above 0 and at most 1: "
            f"{np.count_nonzero(wrong)} of {len(read)} are not, first at row {first} "
            f"({values[first]:g})"
        )
        raise InputError(msg)
    return values


NEVER_LABELED = (
    "a row that had no chance of being labeled was labeled, so it was not found by the policy the "
    "column describes; give it the chance it had, or count it as unlabeled (0)"
)
"""What a labeled row of propensity 0 means."""


def check_propensity_settings(*, detection_rate: float, min_propensity: float) -> None:
    """Refuse what is no share."""
    if not 0 < detection_rate <= 1:
        msg = f"detection_rate must satisfy 0 < detection_rate <= 1, got {detection_rate:g}"
        raise ValueError(msg)
    if not 0 <= min_propensity < 1:
        msg = f"min_propensity must satisfy 0 <= min_propensity < 1, got {min_propensity:g}"
        raise ValueError(msg)


def _numbers_or_nan(values: Any, *, name: str) -> FloatArray:
    """Numbers, with NaN where there is none: for columns of which only some rows are read."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        # pandas' own NA, and Arrow, which numpy does not convert by itself.
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
    try:
        return np.array([math.nan if _is_missing(value) else float(value) for value in listed])
    except (TypeError, ValueError):
        msg = f"{name} must be numbers, got {listed[:3]!r:.60}: convert it first"
        raise InputError(msg) from None
