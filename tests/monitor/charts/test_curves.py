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
        (float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", path.get("d"))
    ]


def test_a_line_goes_through_its_numbers_and_is_cut_where_it_leaves_the_drawing():
    root = drawn([Line(x=X, y=3 * X - 1, low=3 * X - 2, high=3 * X)])
    [line] = of_class(root, "line estimate")
    found = points(line)
    np.testing.assert_allclose([x for x, _ in found], 296 * X, atol=0.006)
    # 190 units high from the axis. Held at 0 or 1 it would read as a number there.
    np.testing.assert_allclose([y for _, y in found], 190 * (2 - 3 * X), atol=0.006)
    inside = [one for one in root.iter("svg") if one is not root]
    assert {one.get("viewBox") for one in inside} == {"-1.5 -1.5 299 193"}
    assert [one[0].get("class") for one in inside] == ["band", "line estimate"]


def test_missing_numbers_break_the_line_and_no_number_draws_nothing():
    y = np.where(np.arange(11) == 5, np.nan, X)
    assert len(of_class(drawn([Line(x=X, y=y)]), "line estimate")) == 2
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
    assert (possible.get("x"), possible.get("width")) == ("0.00", "148.00")
    assert (interval.get("x"), interval.get("width")) == ("59.20", "59.20")
    [now], [chosen] = of_class(root, "place now"), of_class(root, "place chosen")
    assert now.get("d").startswith("M74.00,")
    # Words on the right go to the left of their line.
    [words] = of_class(root, "said place chosen")
    assert (words.get("text-anchor"), words.get("x")) == ("end", "218.00")
    assert chosen.get("d").startswith("M222.00,")
    [dot] = of_class(root, "dot")
    assert (dot.get("cx"), dot.get("cy")) == ("148.00", "95.00")
    [group] = [one for one in root.iter("g") if one.find("circle") is dot]
    assert group.find("title").text == "F1 0.5"
    [reach] = of_class(root, "point")
    assert reach.get("d") == "M148.00,190.00L148.00,47.50"


def test_words_are_escaped():
    root = drawn([Line(x=X, y=X)])
    assert root.find("title").text == "A <b>"
    assert "<x>" in [one.text for one in of_class(root, "tick")]
