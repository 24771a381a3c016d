"""How long confirmations take, from their numbers by whole seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER

_LEVELS: Final = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDelays:
    """How long confirmations take, and how many of them came before their predictions."""

    quantiles: Mapping[float, float] = field(default_factory=dict)
    confirmed: int = 0
    early: int = 0
    refused: int = 0

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> LabelDelays:
        """From numbers of predictions by whole seconds; levels are of those that count."""
        counted = sorted((int(seconds), int(number)) for seconds, number in rows)
        kept = [one for one in counted if one[0] >= -CLOCKS_DIFFER.total_seconds()]
        quantiles: dict[float, float] = {}
        if kept:
            reached = np.cumsum([number for _, number in kept])
            places = [int(np.searchsorted(reached, level * reached[-1])) for level in _LEVELS]
            quantiles = {
                level: float(kept[place][0]) for level, place in zip(_LEVELS, places, strict=True)
            }
        confirmed = sum(number for _, number in counted)
        return cls(
            quantiles=quantiles,
            confirmed=confirmed,
            early=sum(number for seconds, number in kept if seconds < 0),
            refused=confirmed - sum(number for _, number in kept),
        )
