from __future__ import annotations

import json
import re
import struct
import zlib
from typing import Any

import numpy as np
import pytest

from pumonitor.report import palette
from pumonitor.report.charts import build_chart, chart_names, chart_of, to_png, to_svg
from pumonitor.report.curve_chart import points_of
from pumonitor.report.forest_chart import forest_rows
from pumonitor.results import Curve, Evaluation

KEYS = {
    "forest",
    "roc",
    "precision_recall",
    "lift",
    "by_threshold",
    "score_distributions",
    "sensitivity",
}


def _pixels(png: bytes) -> tuple[int, int]:
    """Width and height, after checking the signature and every checksum."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body = png[at + 4 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(body)
        at += 12 + length
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.fixture(scope="module")
def usual_charts(usual: Evaluation) -> dict[str, Any]:
    return {name: build_chart(usual, name) for name in chart_names(usual)}


def test_all_charts_are_put_together_and_hold_no_nan(any_evaluation: Evaluation) -> None:
    assert set(chart_names(any_evaluation)) == KEYS
    for name in KEYS:
        text = json.dumps(chart_of(any_evaluation, name), allow_nan=False)
        assert "nan" not in text


def test_charts_of_altair_are_what_was_put_together(
    usual: Evaluation, usual_charts: dict[str, Any]
) -> None:
    assert set(usual_charts) == KEYS
    for name, chart in usual_charts.items():
        made = chart.to_dict(validate=False)
        given = chart_of(usual, name)
        assert isinstance(given, dict)
        part = next(part for part in ("vconcat", "concat", "layer") if part in given)
        assert len(made[part]) == len(given[part])
        json.dumps(made, allow_nan=False)


def test_charts_follow_the_vega_lite_schema(usual_charts: dict[str, Any]) -> None:
    for chart in usual_charts.values():
        assert chart.to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


def test_charts_render_to_png_pictures_of_the_asked_scale(usual_charts: dict[str, Any]) -> None:
    chart = usual_charts["roc"]
    width, height = _pixels(to_png(chart, scale=1.0))
    assert _pixels(to_png(chart)) == (2 * width, 2 * height)


def test_a_scale_of_nothing_is_refused(usual_charts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="scale must satisfy scale > 0, got 0"):
        to_png(usual_charts["roc"], scale=0)


def test_every_colour_drawn_has_a_dark_counterpart(usual_charts: dict[str, Any]) -> None:
    for chart in usual_charts.values():
        drawn = set(re.findall(r'"(#[^"]*)"', to_svg(chart)))
        assert drawn
        assert drawn <= set(palette.DARK)


def test_forest_says_what_has_no_value_and_what_is_impossible(
    nothing_flagged: Evaluation, impossible: Evaluation
) -> None:
    (row,) = forest_rows(nothing_flagged, ("precision",))
    assert (row["text"], row["value"]) == ("no value", None)
    (row,) = forest_rows(impossible, ("precision",))
    assert row["text"].startswith("came out at 3")
    assert row["value"] == 1.0
    for text in ("no value", "Precision"):
        assert text in to_svg(chart_of(nothing_flagged, "forest"))


def test_forest_shows_the_uncorrected_number_beside_the_corrected(usual: Evaluation) -> None:
    (row,) = forest_rows(usual, ("f1",))
    assert row["value"] == usual["f1"].value
    assert row["naive"] == usual["f1_pu"].value


def test_points_without_a_value_have_no_band_and_ends_survive_thinning() -> None:
    x = np.linspace(0.0, 1.0, 1001)
    y = np.where(x < 0.5, np.nan, x)
    curve = Curve(name="c", x_title="x", y_title="y", x=x, y=y, low=x - 0.1, high=x + 0.1)
    points = points_of(curve)
    assert len(points) < 200
    assert points[0] == {"x": 0.0, "y": None, "low": None, "high": None, "uncorrected": None}
    assert points[-1] == {"x": 1.0, "y": 1.0, "low": 0.9, "high": 1.1, "uncorrected": None}
