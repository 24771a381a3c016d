"""The badge of a monitor: its state and newest estimate, as a small picture."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from pumonitor.monitor.dashboard.pages.standing import MonitorStanding, standings_of
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.in_words import estimate_text
from pumonitor.monitor.inspection.alerts_shown import SEVERITIES
from pumonitor.names import title
from pumonitor.plain_text import one_line

__all__ = ["draw_badge"]

_COLOURS: Final = {
    "failing": "#a4262c",
    "critical": "#a4262c",
    "warning": "#8a5a00",
    "stopped": "#8a5a00",
    "muted": "#555b63",
    "no results": "#555b63",
    "fine": "#1c6b3a",
}
_LONGEST: Final = 40
_WIDTH_OF_A_LETTER: Final = 7
_MARGIN: Final = 8


def draw_badge(site: Site, monitor: str) -> Markup:
    """An SVG that says the same as the overview.

    Parameters
    ----------
    site : Site
    monitor : str
    """
    with site.at_once() as ledger:
        (one,) = standings_of(site, ledger, visible=[monitor], now=site.clock())
    name = one_line(monitor)
    left = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    right = _said(one)
    split, whole = _width(left), _width(left) + _width(right)
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" '
        'aria-label="{left}: {right}"><title>{left}: {right}</title>'
        '<rect width="{split}" height="20" fill="#3b4048"/>'
        '<rect x="{split}" width="{rest}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" '
        'text-anchor="middle"><text x="{at_left}" y="14">{left}</text>'
        '<text x="{at_right}" y="14">{right}</text></g></svg>'
    ).format(
        whole=whole,
        split=split,
        rest=whole - split,
        colour=_COLOURS[one.condition],
        left=left,
        right=right,
        at_left=split // 2,
        at_right=(split + whole) // 2,
    )


def _said(one: MonitorStanding) -> str:
    said: list[str] = [one.condition]
    if one.firing and one.condition not in SEVERITIES:
        said.append(one.fires_said)
    if one.headline is not None and one.headline.value is not None:
        impossible = "!" if one.headline.infeasible or one.headline.impossible else ""
        shown = estimate_text(one.metric, one.headline.value)
        said.append(f"{title(one.metric)} {shown}{impossible}")
    return " · ".join(said)


def _width(text: str) -> int:
    return len(text) * _WIDTH_OF_A_LETTER + 2 * _MARGIN
