"""Positions in a drawing, and the paths of lines and bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray

_ROOM: Final = 0.06


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where numbers lie in a drawing.

    Attributes
    ----------
    begin, end : float
        Numbers at the left and right; seconds since 1970 where they are moments.
    bottom, top : float
    size : (int, int)
        Width and height.
    margins : (int, int, int, int)
        Left, right, top and bottom.
    """

    begin: float
    end: float
    bottom: float
    top: float
    size: tuple[int, int]
    margins: tuple[int, int, int, int]

    def x(self, number: FloatArray | float) -> FloatArray:
        """Distance from the left."""
        left, right, _, _ = self.margins
        share = (np.asarray(number, dtype=float) - self.begin) / (self.end - self.begin)
        return np.asarray(left + share * (self.size[0] - left - right))

    def y(self, value: FloatArray | float) -> FloatArray:
        """Distance from the top."""
        _, _, top, bottom = self.margins
        share = (np.asarray(value, dtype=float) - self.bottom) / (self.top - self.bottom)
        return np.asarray(self.size[1] - bottom - share * (self.size[1] - top - bottom))


def with_room(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis that holds both numbers; from 0 where they are near."""
    room = _ROOM * (high - low) or 0.1 * abs(high) or 0.1
    return low - room if low < 0 or low > room else 0.0, high + room


def line_path(x: FloatArray, y: FloatArray) -> str:
    """A path through all points, broken where one is missing."""
    has_value = np.isfinite(y)
    begins = has_value & ~np.concatenate([[False], has_value[:-1]])
    return "".join(
        f"{'M' if first else 'L'}{one:.1f} {other:.1f}"
        for one, other, first in zip(
            x[has_value].tolist(), y[has_value].tolist(), begins[has_value].tolist(), strict=True
        )
    )


def band_path(x: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Around every run of points with both ends; a single one is a thin bar."""
    has_both = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], has_both, [False]]).astype(int)))
    drawn = []
    for begin, end in edges.reshape(-1, 2).tolist():
        along, below, above = x[begin:end], low[begin:end], high[begin:end]
        if end - begin == 1:
            along = np.array([along[0] - 1.5, along[0] + 1.5])
            below, above = np.repeat(below, 2), np.repeat(above, 2)
        outline = [
            *zip(along.tolist(), above.tolist(), strict=True),
            *zip(along[::-1].tolist(), below[::-1].tolist(), strict=True),
        ]
        drawn.append("M" + "L".join(f"{one:.1f} {other:.1f}" for one, other in outline) + "Z")
    return "".join(drawn)
