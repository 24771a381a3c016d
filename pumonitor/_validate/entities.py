"""Which rows are of one entity: a card, a customer, a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate.columns import check_same_index, is_missing
from pumonitor._validate.label_sources import values_by_row
from pumonitor.errors import InputError


def as_entities(
    entity: Any, labels: NDArray[np.int8], *, index_of: Any = None, **excluded: Any
) -> NDArray[np.int64]:
    """The entity of each labeled row as a number.

    A row without one, missing or an empty text, is an entity of its own.

    Parameters
    ----------
    entity : array-like of shape (n,)
        Text, numbers, anything that has equals.
    labels : ndarray of shape (n,)
        1 where labeled.
    index_of : pandas series, optional
        Labels as given, whose index says to which rows they belong.
    excluded
        Arguments that do not go with it, None where they were not given.

    Examples
    --------
    >>> as_entities(["ann", "bob", "ann", None, None], np.array([1, 0, 1, 1, 1])).tolist()
    [0, 0, 1, 2]
    """
    refuse_beside_entity(**excluded)
    check_same_index(index_of, entity, name="entity")
    values = values_by_row(entity, len(labels), name="entity")[labels == 1].tolist()
    numbers: dict[Any, int] = {}
    codes = [
        numbers.setdefault(object() if is_missing(value) or value == "" else value, len(numbers))
        for value in values
    ]
    return np.array(codes, dtype=np.int64)


def refuse_beside_entity(**given: object) -> None:
    """Refuse arguments that do not go with an entity; None stands for what was not given.

    Raises
    ------
    InputError
        If one is given.

    Examples
    --------
    >>> refuse_beside_entity(sample_weight=None, propensity=None)
    """
    together = [name for name, value in given.items() if value is not None]
    if together:
        msg = (
            f"entity does not go with {' and '.join(together)}: labels of one entity are counted "
            "with equal weights alone; leave out one or the other"
        )
        raise InputError(msg)
