"""Curves are drawn at their numbers, and nothing outside the axes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from pumonitor.monitor.charts.curves import Dot, Line, Place, Range, draw_curves

X = np.linspace(0.0, 1.0, 11)


def drawn(lines, **options):
    options = {"across": (0.0, 1.0), **options}
    text = draw_curves(lines, title="A <b>", identifier="a", x_title="<x>", **options)
    return ElementTree.fromstring(str(text))  # noqa: S314


def of_class(root, kind):
    return [one for one in root.iter() if one.get("class") == kind]


def points(path):
    return [
        (float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d"))
    ]


def test_a_line_goes_through_its_numbers_and_is_cut_where_it_leaves_the_drawing():
    root = drawn([Line(x=X, y=3 * X - 1, low=3 * X - 2, high=3 * X)])
    [line] = of_class(root, "line estimate")
    found = points(line)
    assert [x for x, _ in found] == [round(52 + 296 * x, 1) for x in X]
    # 190 units high from the axis at 208. Held at 0 or 1 it would read as a number there.
    np.testing.assert_allclose([y for _, y in found], 208 - 190 * (3 * X - 1), atol=0.051)
    [band] = of_class(root, "band")
    assert line.get("clip-path") == band.get("clip-path") == "url(#a-inside)"
    [inside] = [one for one in root.iter() if one.get("id") == "a-inside"]
    rect = {name: float(inside[0].get(name)) for name in ("x", "y", "width", "height")}
    assert rect == {"x": 50.5, "y": 16.5, "width": 299.0, "height": 193.0}


def test_missing_numbers_break_the_line_and_no_number_draws_nothing():
    y = np.where(np.arange(11) == 5, np.nan, X)
    [line] = of_class(drawn([Line(x=X, y=y)]), "line estimate")
    assert line.get("d").count("M") == 2
    nothing = draw_curves(
        [Line(x=X, y=np.full(11, np.nan))],
        title="",
        identifier="a",
        x_title="",
        across=(0.0, 1.0),
    )
    assert nothing == ""


def test_what_is_marked_stands_at_its_number():
    root = drawn(
        [Line(x=X, y=X)],
        ranges=[Range(-1.0, 0.5, "possible"), Range(0.2, 0.4), Range(2.0, 3.0)],
        places=[Place(0.25, "now 0.25"), Place(0.75, "chosen", "chosen"), Place(1.5, "beyond")],
        dots=[Dot(x=0.5, y=0.5, low=-1.0, high=0.75, text="F1 0.5"), Dot(x=0.1, y=np.nan, text="")],
    )
    [possible], [interval] = of_class(root, "range possible"), of_class(root, "range interval")
    assert (possible.get("x"), possible.get("width")) == ("52.0", "148.0")
    assert (interval.get("x"), interval.get("width")) == ("111.2", "59.2")
    [now], [chosen] = of_class(root, "place now"), of_class(root, "place chosen")
    assert now.find("path").get("d").startswith("M126.0 ")
    # Words on the right go to the left of their line.
    assert chosen.find("text").get("class") == "said end"
    [dot] = of_class(root, "dot")
    assert (dot.get("cx"), dot.get("cy")) == ("200.0", "126.0")
    [reach] = of_class(root, "point")
    assert reach.find("path").get("d") == "M200.0 208.0V85.0"


def test_words_are_escaped():
    root = drawn([Line(x=X, y=X)])
    assert root.find("title").text == "A <b>"
    assert of_class(root, "said middle")[0].text == "<x>"
