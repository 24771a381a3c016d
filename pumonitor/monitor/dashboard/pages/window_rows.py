"""The table of a monitor's windows, made row by row in one go.

A thousand windows have ten thousand cells. As expressions of the template, each handed through
three generators, they took half of the page's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from math import isnan
from typing import Final

from markupsafe import Markup, escape

from pumonitor.monitor.reports.metric_over_windows import MetricOverWindows
from pumonitor.names import estimate_text
from pumonitor.plain_text import one_line
from pumonitor.text import interval_shown, marked, moment_cell, percent_text

_ROW: Final = (
    '<tr><th scope="row"><a href="{}">{}</a></th><td>{}</td>{}<td><b>{}</b>{}</td>'
    "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n"
)


def window_rows(
    shown: MetricOverWindows,
    metric: str,
    *,
    zone: tzinfo,
    links: Sequence[str],
    has_versions: bool,
) -> Markup:
    """Rows of the table, the newest window first.

    Parameters
    ----------
    shown : MetricOverWindows
    metric : str
    zone : tzinfo
        In which moments are written.
    links : sequence of str
        Address of each window's page.
    has_versions : bool
        Whether there is a column of model versions.
    """
    # Plain floats: those of numpy are slow to round and to write.
    value, low, high, expected = (
        of.tolist() for of in (shown.value, shown.low, shown.high, shown.expected)
    )
    predictions, confirmed, arrived = (
        shown.counted[name].tolist()
        for name in ("predictions", "labeled_positives", "label_maturity")
    )
    rows = []
    for place in range(len(shown) - 1, -1, -1):
        reason = escape(shown.reasons[place])
        version = f"<td>{escape(one_line(shown.versions[place]))}</td>" if has_versions else ""
        rows.append(
            _ROW.format(
                escape(links[place]),
                moment_cell(shown.starts[place], zone),
                shown.states[place],
                version,
                marked(estimate_text(metric, value[place]), shown.reasons[place]),
                f'<span class="small of">{reason}</span>' if reason else "",
                interval_shown(low[place], high[place]),
                "" if isnan(expected[place]) else estimate_text(metric, expected[place]),
                estimate_text("predictions", predictions[place]),
                estimate_text("labeled_positives", confirmed[place]),
                "" if isnan(arrived[place]) else percent_text(round(arrived[place], 2)),
            )
        )
    # Every text of others is escaped above; the rest are numbers, moments and states of ours.
    return Markup("".join(rows))  # noqa: S704
