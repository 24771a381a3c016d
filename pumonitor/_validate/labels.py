"""Labels, and whether there are enough of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate.columns import as_array, refuse_empty, refuse_missing
from pumonitor._validate.verdict_words import hint_on_verdicts
from pumonitor.errors import InputError, TooFewPositivesError

MINIMUM_LABELED = 2
"""Fewer confirmed positives than this have no spread, hence no interval."""

LABEL_REMEDY = "use 1 for a confirmed positive, 0 for unlabeled, -1 for a confirmed negative"
MISSING_LABEL_REMEDY = (
    f"an unlabeled row must have label 0, and a missing label is not the same; {LABEL_REMEDY}; "
    "verdicts of a review queue, which are missing where nobody looked, are no labels but reviews "
    "(reviews=pumonitor.Reviews(...), --verdicts)"
)


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
    values = as_array(
        labels,
        name=name,
        missing_remedy=MISSING_LABEL_REMEDY,
    )
    refuse_empty(values, name=name)
    if values.dtype == np.bool_:
        return values.view(np.int8)
    if values.dtype.kind == "f":
        refuse_missing(
            np.isnan(values),
            name=name,
            remedy=MISSING_LABEL_REMEDY,
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
        f"{examples}, first at row {int(np.argmax(unknown))}; {LABEL_REMEDY}"
        f"{hint_on_verdicts(kinds)}"
    )
    raise InputError(msg)


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
            "are needed, and some tens for useful intervals; evaluate a longer period"
        )
        raise TooFewPositivesError(msg)
    if n_unlabeled == 0:
        msg = (
            f"all {rows} rows are confirmed: no row is unlabeled (label 0), so there is no "
            "population to compare with; give label 0 to the rows that were scored but not "
            "confirmed"
        )
        raise InputError(msg)
