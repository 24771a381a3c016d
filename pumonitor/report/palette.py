"""Colours of charts and page, for light and for dark.

Charts are drawn once, in the light colours. The page recolours them in the dark by matching the
colour of each mark, so that a picture saved from a chart and the picture in the page are the same.
Blue, orange and grey (after Okabe and Ito) stay apart for colour-blind readers, and every pair is
also told apart by dash or shape.
"""

from __future__ import annotations

from typing import Final

BACKGROUND: Final = "#ffffff"
INK: Final = "#1f2933"
MUTED: Final = "#5b6874"
AXIS: Final = "#9aa5b1"
GRID: Final = "#e4e8ec"
CORRECTED: Final = "#0b69a8"
UNCORRECTED: Final = "#c2570c"

DARK: Final = {
    BACKGROUND: "#161b21",
    INK: "#e8edf2",
    MUTED: "#a3b0bd",
    AXIS: "#6b7885",
    GRID: "#2c353e",
    CORRECTED: "#5bb5ee",
    UNCORRECTED: "#f0954f",
}
"""What each light colour becomes in the dark."""


def dark_rules(selector: str) -> str:
    """CSS that recolours drawings below `selector`.

    Examples
    --------
    >>> print(dark_rules(".chart").splitlines()[0])
    .chart [fill="#ffffff"] { fill: #161b21; }
    """
    return "\n".join(
        f'{selector} [{part}="{light}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
