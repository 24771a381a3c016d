"""The figures of the page: SVG that scales and recolours, and how to read each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pumonitor.names import title
from pumonitor.report.audit_charts import with_and_without_chart
from pumonitor.report.charts import chart_of
from pumonitor.report.history_chart import HistoryPoint, history_chart
from pumonitor.report.prior_chart import PriorHistory, prior_chart
from pumonitor.report.sensitivity_chart import sensitivity_panel
from pumonitor.report.theme import to_svg
from pumonitor.report.threshold_charts import threshold_panels
from pumonitor.results import Evaluation
from pumonitor.results.sensitivity import Sensitivity

_READING: Final = {
    "forest": (
        "All estimates",
        "Each dot is an estimate, the line through it its interval: the true value may be anywhere "
        "on the line. Orange marks the value with unconfirmed cases counted as negatives.",
    ),
    "roc": (
        "Positives caught against false alarms (ROC)",
        "Each point is a threshold. The nearer the curve comes to the top left corner, the better "
        "the ranking; on the dotted diagonal it is no better than chance. Where the dashes lie on "
        "the line, both ways of counting agree.",
    ),
    "precision_recall": (
        "Precision against recall",
        "Going right, more of the positives are caught; the height is how many of the flagged "
        "cases are really positive. The dotted line is what flagging at random gives.",
    ),
    "lift": (
        "Positives caught by effort",
        "If this share of all cases, the highest scores first, were reviewed, this share of the "
        "positives would be caught. On the diagonal the order is no better than random.",
    ),
    "score_distributions": (
        "Scores of confirmed and unconfirmed cases",
        "The further the blue area lies to the right of the grey one, the better the model tells "
        "them apart. Each area adds to 100%; some unconfirmed cases are positives too.",
    ),
}

_BY_BIN: Final = {
    "audit": {
        "audit_frequency": (
            "Who gets confirmed, by score",
            "Each dot is the share of the positives of a score bin that is confirmed, as the audit "
            "tells it. Were confirmations a fair sample, all would lie near the dashed line, which "
            "is the share at all scores together. The line across is the threshold.",
        ),
        "audit_positives": (
            "Where the positives are",
            "Bars are the positives of each score bin: confirmed, found by the audit, and "
            "estimated to be hidden among the cases that nobody looked at. The thin line is the "
            "interval of all three together.",
        ),
    },
    "reviews": {
        "review_positives": (
            "Where the positives are",
            "Bars are the positives of each score bin: found by review, known by a complaint, and "
            "estimated to be hidden among the cases that nobody looked at. The thin line is the "
            "interval of all three together.",
        ),
    },
}
"""By the kind of what was told by score bin."""

_SIZE: Final = re.compile(
    r'^<svg [^>]*?width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"[^>]*>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing with its heading and one or two sentences on how to read it."""

    name: str
    heading: str
    reading: str
    svg: str


def inline_svg(svg: str, *, description: str) -> str:
    """An SVG document as an element of a page: sized by the page, named once for screen readers.

    Raises
    ------
    ValueError
        If the drawing does not state its size.

    Examples
    --------
    >>> inline_svg('<svg xmlns="x" width="4" height="3" viewBox="0 0 4 3"><g/></svg>',
    ...            description="A & B")
    '<svg viewBox="0 0 4 3" role="img" aria-label="A &amp; B"><g/></svg>'
    """
    from markupsafe import escape

    size = _SIZE.match(svg)
    if size is None:
        msg = f"svg must start with an svg element that has a width and a height, got {svg[:60]!r}"
        raise ValueError(msg)
    opening = (
        f'<svg viewBox="0 0 {size["width"]} {size["height"]}" role="img" '
        f'aria-label="{escape(description)}">'
    )
    # Roles meant for a stand-alone document; here the picture is one thing with one name.
    body = re.sub(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"', "", svg[size.end() :])
    return opening + body


def figures(evaluation: Evaluation) -> list[Figure]:
    """The figures in reading order, without the threshold panels."""
    return _drawn(evaluation, _READING)


def audit_figures(evaluation: Evaluation, without: Evaluation | None) -> list[Figure]:
    """What the audit or reviews say; with the same rows `without` also what it changes."""
    if evaluation.reading is None:
        return []
    drawn = _drawn(evaluation, _BY_BIN[evaluation.reading.kind])
    if without is None or evaluation.audit is None:
        return drawn
    heading = "With and without the audit"
    svg = inline_svg(to_svg(with_and_without_chart(evaluation, without)), description=heading)
    reading = (
        "The same cases evaluated twice, from scores and confirmations alone and together with the "
        "audit. Where the two intervals lie apart, confirmations are no fair sample, or the share "
        "of positives was estimated badly."
    )
    return [Figure(name="with_and_without", heading=heading, reading=reading, svg=svg), *drawn]


def _drawn(evaluation: Evaluation, readings: Mapping[str, tuple[str, str]]) -> list[Figure]:
    return [
        Figure(
            name=name,
            heading=heading,
            reading=reading,
            svg=inline_svg(to_svg(chart_of(evaluation, name)), description=heading),
        )
        for name, (heading, reading) in readings.items()
    ]


def history_figures(history: Mapping[str, Sequence[HistoryPoint]]) -> list[Figure]:
    """One figure of the windows up to this one; none without any."""
    if not history:
        return []
    heading = "The windows up to this one"
    svg = inline_svg(to_svg(history_chart(history)), description=heading)
    reading = (
        "Each dot is a window, as it was known when this one was evaluated, the line through "
        "it its interval; the large dot is this window. Axes do not begin at zero."
    )
    return [Figure(name="history", heading=heading, reading=reading, svg=svg)]


def prior_figures(history: PriorHistory | None) -> list[Figure]:
    """One figure of the class prior over the windows; none where it is not followed."""
    if history is None:
        return []
    heading = "The share of positives over the windows"
    svg = inline_svg(to_svg(prior_chart(history)), description=heading)
    level = "was given" if history.level.given else "it was first estimated at"
    reading = (
        "The line is the share of positives as it is followed from window to window, the band its "
        f"interval; the thick bar is what {level}. Faint dots are the estimates from the scores of "
        "each window alone. They rise when the ranking gets worse, and they are not part of the "
        "line. Below, a full bar is a change that surely came with that window. The axis is "
        "logarithmic: a doubling has the same height anywhere."
    )
    return [Figure(name="prior", heading=heading, reading=reading, svg=svg)]


def threshold_figures(evaluation: Evaluation) -> list[Figure]:
    """One small figure for each metric against the threshold."""
    drawn = []
    for name, panel in threshold_panels(evaluation, with_legend=False).items():
        heading = title(name, evaluation.settings)
        svg = inline_svg(to_svg(panel), description=f"{heading} by threshold")
        drawn.append(Figure(name=name, heading=heading, reading="", svg=svg))
    return drawn


def sensitivity_figures(evaluation: Evaluation, swept: Mapping[str, Sensitivity]) -> list[Figure]:
    """One small figure for each metric against the share of positives."""
    drawn = []
    for name, found in swept.items():
        heading = title(name, evaluation.settings)
        svg = inline_svg(
            to_svg(sensitivity_panel(found, heading=heading)),
            description=f"{heading} by share of positives",
        )
        drawn.append(Figure(name=name, heading=heading, reading="", svg=svg))
    return drawn
