"""Elements of an SVG drawing, and how far they reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, Final

from pumonitor.report.drawing.text_width import text_width

_RISE: Final = {"top": 0.79, "middle": 0.3, "bottom": -0.21, "alphabetic": 0.0}
"""How far below its place the line of a text runs, in sizes of the font."""
_ANCHOR: Final = {"left": "start", "center": "middle", "right": "end"}
_BEFORE: Final = {"left": 0.0, "center": 0.5, "right": 1.0}
_EDGE: Final = 1.5
"""Half the width of a line, which is not cut where it runs along an axis."""
_NAMES: Final = {
    "opacity": "opacity",
    "fillOpacity": "fill-opacity",
    "strokeWidth": "stroke-width",
    "strokeJoin": "stroke-linejoin",
}


def attributes(mark: Mapping[str, Any], **colors: str | None) -> str:
    """Attributes of an element from the properties of a mark, with its fill and its stroke.

    A mark with a style has its looks from a style sheet, by that class.
    """
    if "style" in mark:
        return f' class="{mark["style"]}"'
    parts = [f' {name}="{color}"' for name, color in colors.items() if color is not None]
    parts += [f' {_NAMES[name]}="{mark[name]}"' for name in _NAMES if name in mark]
    if "strokeDash" in mark:
        parts.append(f' stroke-dasharray="{",".join(f"{one:g}" for one in mark["strokeDash"])}"')
    return "".join(parts)


class Canvas:
    """Elements drawn so far, with the ends of what they cover.

    Positions are pixels to the right of and below the upper left corner of the plotted area.
    """

    def __init__(self, width: float = 0.0, height: float = 0.0) -> None:
        self.left, self.top, self.right, self.bottom = 0.0, 0.0, width, height
        self._parts: list[str] = []

    def __str__(self) -> str:
        return "".join(self._parts)

    def line(self, x: float, y: float, x2: float, y2: float, how: str) -> None:
        """A straight line; lines that run along the grid of pixels are as wide as one of them."""
        self._parts.append(f'<path d="M{x:.2f},{y:.2f}L{x2:.2f},{y2:.2f}"{how}/>')

    def lines(self, ends: Iterable[tuple[float, float, float, float]], how: str) -> None:
        """Straight lines that look alike, as one element."""
        path = "".join(f"M{x:.2f},{y:.2f}L{x2:.2f},{y2:.2f}" for x, y, x2, y2 in ends)
        if path:
            self._parts.append(f'<path d="{path}"{how}/>')

    def path(self, points: Sequence[tuple[float, float]], how: str, *, closed: bool) -> None:
        """A line through points, or the area that it encloses."""
        text = "L".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._parts.append(f'<path d="M{text}{"Z" if closed else ""}"{how}/>')

    def rectangle(self, x: float, y: float, x2: float, y2: float, how: str) -> None:
        """The area between two corners, in any order."""
        self._parts.append(
            f'<rect x="{min(x, x2):.2f}" y="{min(y, y2):.2f}" width="{abs(x2 - x):.2f}" '
            f'height="{abs(y2 - y):.2f}"{how}/>'
        )

    def circle(self, x: float, y: float, *, area: float, how: str) -> None:
        """A dot in a box of that area."""
        self._parts.append(
            f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{0.5 * math.sqrt(area):.2f}"{how}/>'
        )

    def diamond(self, x: float, y: float, *, area: float, how: str) -> None:
        """A square on its corner in a box of that area."""
        reach = 0.5 * math.sqrt(area)
        corners = [(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]
        self.path(corners, how, closed=True)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        color: str,
        size: float = 12,
        align: str = "left",
        baseline: str = "alphabetic",
        bold: bool = False,
        upward: bool = False,
        how: str = "",
    ) -> None:
        """A line of text, counted in what is covered; `upward` it reads from below."""
        width, rise = text_width(text, size=size, bold=bold), _RISE[baseline] * size
        before = _BEFORE[align] * width
        if upward:
            turn = f' transform="translate({x + rise:.2f},{y:.2f})rotate(-90)"'
            self.reach(x + rise - 0.8 * size, y + before - width, x + rise + 0.2 * size, y + before)
        else:
            turn = f' x="{x:.2f}" y="{y + rise:.2f}"'
            self.reach(x - before, y + rise - 0.8 * size, x - before + width, y + rise + 0.2 * size)
        looks = how
        if not how.startswith(" class="):
            weight = ' font-weight="bold"' if bold else ""
            looks = f' font-size="{size:g}px"{weight} fill="{color}"{how}'
        self._parts.append(
            f'<text{turn} text-anchor="{_ANCHOR[align]}"{looks}>{escape(text, quote=False)}</text>'
        )

    @contextmanager
    def grouped(self, *, kind: str = "", text: str = "", link: str | None = None) -> Iterator[None]:
        """What is drawn meanwhile is one thing, which says a text where it is pointed at."""
        name = f' class="{kind}"' * bool(kind)
        if link is not None:
            self._parts.append(f'<a{name} href="{escape(link)}" aria-label="{escape(text)}">')
        else:
            self._parts.append(f"<g{name}>")
        if text:
            self._parts.append(f"<title>{escape(text, quote=False)}</title>")
        yield
        self._parts.append("</g>" if link is None else "</a>")

    @contextmanager
    def clipped(self, width: float, height: float, *, is_clipped: bool) -> Iterator[None]:
        """What is drawn meanwhile is cut at the ends of the plotted area, not along them."""
        edge = _EDGE
        box = f"{-edge} {-edge} {width + 2 * edge:g} {height + 2 * edge:g}"
        if is_clipped:
            x, y, across, along = box.split()
            self._parts.append(
                f'<svg x="{x}" y="{y}" width="{across}" height="{along}" viewBox="{box}">'
            )
        yield
        if is_clipped:
            self._parts.append("</svg>")

    def reach(self, left: float, top: float, right: float, bottom: float) -> None:
        """Count a rectangle in what is covered."""
        self.left, self.top = min(self.left, left), min(self.top, top)
        self.right, self.bottom = max(self.right, right), max(self.bottom, bottom)

    def put(self, other: Canvas, x: float, y: float) -> None:
        """Another drawing, its corner at a place."""
        self._parts.append(f'<g transform="translate({x:.2f},{y:.2f})">{other}</g>')
        self.reach(other.left + x, other.top + y, other.right + x, other.bottom + y)
