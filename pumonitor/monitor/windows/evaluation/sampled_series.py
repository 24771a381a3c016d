"""Which of the rows that were read one by one are of a series, and what was known of them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pumonitor.ports import SampledRows


def state_at(rows: SampledRows, moment: int) -> NDArray[np.int64]:
    """Label of each row at one of the requested moments: 1, 0 or -1."""
    return np.asarray((rows.history // 3**moment) % 3 - 1)


class _Series(Protocol):
    """What is asked of a series, stored or not."""

    @property
    def model_version(self) -> str: ...
    @property
    def segment(self) -> str: ...


def of_series(rows: SampledRows, series: _Series) -> NDArray[np.bool_]:
    """Select the rows of a series."""
    is_of_series = rows.model_version == series.model_version
    if series.segment:
        column, _, value = series.segment.partition("=")
        is_of_series = is_of_series & (rows.segments[column] == value)
    return np.asarray(is_of_series)
