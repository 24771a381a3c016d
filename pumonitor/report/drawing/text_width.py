"""How wide a text is, which decides how much room axes and labels are given.

Drawings are read with whatever font the reader has; widths are those of Helvetica, which Arial and
Liberation Sans share.
"""

from __future__ import annotations

from typing import Final

_FIRST: Final = 32
_WIDTHS: Final = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
"""Thousandths of the font's size, from the space to the tilde."""
_OTHER: Final = 600
_BOLD: Final = 1.07
"""How much wider bold letters are, on average."""


def text_width(text: str, *, size: float = 12, bold: bool = False) -> float:
    """Width in pixels.

    Examples
    --------
    >>> round(text_width("100%"), 1)
    30.7
    """
    units = 0
    for letter in text:
        place = ord(letter) - _FIRST
        units += _WIDTHS[place] if 0 <= place < len(_WIDTHS) else _OTHER
    return units * size / 1000 * (_BOLD if bold else 1.0)


def shortened(text: str, *, limit: float, size: float = 12) -> str:
    """The text, cut to a width with an ellipsis at its end where it is longer.

    Examples
    --------
    >>> shortened("Balanced accuracy at its best threshold", limit=100)
    'Balanced accura…'
    """
    if text_width(text, size=size) <= limit:
        return text
    while text and text_width(text + "…", size=size) > limit:
        text = text[:-1]
    return text + "…"
