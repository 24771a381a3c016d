"""What Vega draws of a chart, to hold the drawings of this package to it."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import vl_convert

from pumonitor.report import palette
from pumonitor.report.drawing.panels import draw
from pumonitor.report.theme import CONFIG


def _by_vega(chart: dict[str, Any]) -> str:
    return str(vl_convert.vegalite_to_svg({**chart, "config": CONFIG}, allowed_base_urls=[]))


def elements(svg: str) -> list[ElementTree.Element]:
    """All of a drawing."""
    return list(ElementTree.fromstring(svg).iter())  # noqa: S314 (drawn by the test)


def _texts(svg: str) -> list[str]:
    found = [one.text for one in elements(svg) if one.tag.endswith("text")]
    # Vega keeps labels that overlap others, and does not show them.
    return sorted(text for text in found if text)


def _lines(svg: str) -> np.ndarray:
    """Points of the lines of corrected numbers, without where their panel lies."""
    drawn = []
    for one in elements(svg):
        is_line = one.get("fill", "none") == "none" and one.get("stroke") == palette.CORRECTED
        if one.tag.endswith("path") and is_line and one.get("d", "").count("L") > 2:
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", one.get("d", ""))]
            drawn.append(np.array(numbers).reshape(-1, 2))
    return np.concatenate(drawn) if drawn else np.zeros((0, 2))


def check_same(chart: dict[str, Any]) -> None:
    """Its words and its lines of corrected numbers are those that Vega draws."""
    ours, theirs = draw(chart), _by_vega(chart)
    assert _texts(ours) == _texts(theirs)
    np.testing.assert_allclose(_lines(ours), _lines(theirs), atol=0.01)
