"""One score per row from whatever a model returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError


def score_column(output: Any, *, column: str | None, pos_label: Any = None) -> NDArray[Any]:
    """The score of the positive class.

    Parameters
    ----------
    output : array, list, series, data frame, dict or list of dicts
        What ``predict`` returned. Two columns are class probabilities, the positive class second,
        or in the column named 1 (or `pos_label`).
    column : str or None
        The column that holds the score.
    pos_label : object
        Name of the positive class.

    Raises
    ------
    InputError
        If it is not clear which column is the score.

    Examples
    --------
    >>> score_column(np.array([[0.9, 0.1], [0.4, 0.6]]), column=None)
    array([0.1, 0.6])
    """
    if isinstance(output, dict) or _is_list_of_dicts(output):
        import pandas

        output = pandas.DataFrame(output)
    if hasattr(output, "columns"):
        return _from_frame(output, column=column, pos_label=pos_label)
    values = np.asarray(output)
    if values.ndim == 1:
        return values
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    if values.ndim == 2 and values.shape[1] == 2:
        _refuse_other_than_probabilities(values)
        return values[:, 1]
    msg = (
        f"the model's output has shape {values.shape}: one score per row is needed, or two columns "
        "of class probabilities; for more classes pass the score of the positive one as static "
        "predictions"
    )
    raise InputError(msg)


def are_class_labels(scores: NDArray[Any]) -> bool:
    """Whether the values are decisions (0 and 1, -1 and 1, names), which rank nothing.

    Examples
    --------
    >>> are_class_labels(np.array([0, 1, 1])), are_class_labels(np.array([0.2, 1.0]))
    (True, False)
    """
    if scores.dtype.kind == "b":
        return True
    if scores.dtype.kind not in "iuf":
        return any(isinstance(value, str | bytes | bool) for value in scores.tolist())
    return bool(np.isin(scores, (0, 1)).all() or np.isin(scores, (-1, 1)).all())


def _is_list_of_dicts(output: Any) -> bool:
    return isinstance(output, list) and bool(output) and isinstance(output[0], dict)


def _from_frame(output: Any, *, column: str | None, pos_label: Any) -> NDArray[Any]:
    names = list(output.columns)
    listed = ", ".join(map(str, names))
    if column is not None and column in names:
        return np.asarray(output[column])
    if len(names) == 1:
        return np.asarray(output[names[0]])
    if column is not None:
        msg = f"predictions={column!r} is not a column of the model's output, which has {listed}"
        raise InputError(msg)
    for name in (1, "1") if pos_label is None else (pos_label, str(pos_label)):
        if len(names) == 2 and name in names:
            _refuse_other_than_probabilities(np.asarray(output, dtype=np.float64))
            return np.asarray(output[name])
    msg = (
        f"the model's output has the columns {listed}: give the one with the score of the positive "
        "class, predictions='...' in mlflow.models.evaluate"
    )
    raise InputError(msg)


def _refuse_other_than_probabilities(values: NDArray[Any]) -> None:
    wrong = ~np.isclose(values.sum(axis=1, dtype=np.float64), 1.0, atol=1e-3)
    if wrong.any():
        first = int(np.argmax(wrong))
        msg = (
            f"the model's output has two columns that are not class probabilities: they do not sum "
            f"to 1 in {int(wrong.sum())} of {len(values)} rows, first at row {first} "
            f"({values[first, 0]:g} and {values[first, 1]:g}); return the score alone, or a data "
            "frame whose score column is named by predictions='...'"
        )
        raise InputError(msg)
