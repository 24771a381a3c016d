"""Labels: where they come from, how late they are, and what more reviews would tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pumonitor.monitor.charts.curves import Line, draw_curves
from pumonitor.monitor.charts.time_series import Drawn, draw_time_series
from pumonitor.monitor.dashboard.pages.window_drawings import Drawing
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.label_health import label_health, windows_that_tell
from pumonitor.monitor.inspection.label_health_text import WHERE_WORDS, label_health_sentences
from pumonitor.monitor.views.labels import ArrivalView, IntervalView, LabelsView
from pumonitor.text import percent_with_interval


def labels_page(site: Site, name: str) -> dict[str, Any]:
    """What the page of a monitor's labels shows.

    Parameters
    ----------
    site : Site
    name : str
    """
    health = health_of(site, name)
    zone = site.zone(name)
    return {
        "monitor": name,
        "zone": zone,
        "health": health,
        "sentences": list(label_health_sentences(health)),
        "where_words": WHERE_WORDS,
        "has_waiting": any(origin.waiting for origin in health.origins),
        "over_windows": _over_windows(health, zone),
        "arrivals": _arrival_drawings(health.arrivals, has_reviews=health.has_reviews),
    }


def health_of(site: Site, name: str) -> LabelsView:
    """The facts, made once for what is known of the monitor's windows."""
    with site.at_once() as ledger:
        known = tuple(
            (record.window_key, pane.number, pane.revision, pane.digest)
            for record in windows_that_tell(ledger, name)
            for pane in record.panes
            if pane.collected_at is not None
        )
        made: LabelsView = site.kept.get(
            ("labels", name, known), lambda: label_health(ledger, site.monitors[name])
        )
    return made


def _over_windows(health: LabelsView, zone: Any) -> Any:
    """Known labels of each window; what is still to come is a dashed line."""
    windows = health.windows
    if len(windows) < 2:
        return ""
    known = np.array([float(window.complaints + (window.verdicts or 0)) for window in windows])
    starts = [window.start for window in windows]
    length = starts[-1] - starts[-2]
    return draw_time_series(
        Drawn(
            starts=starts,
            ends=[start + length for start in starts],
            value=known,
            low=known,
            high=known,
            provisional=np.array([window.state == "provisional" for window in windows]),
        ),
        title="Labels known of each window",
        zone=zone,
        identifier="labels",
    )


def _arrival_drawings(arrivals: Sequence[ArrivalView], *, has_reviews: bool) -> list[Drawing]:
    """The share that is known by age, of verdicts and of complaints."""
    kinds = {"Complaints" if has_reviews else "Labels": [of.complaints for of in arrivals]}
    if has_reviews:
        kinds = {"Verdicts": [of.verdicts for of in arrivals], **kinds}
    days = np.array([arrival.age_days for arrival in arrivals])
    drawings = []
    for heading, shares in kinds.items():
        value, low, high = (
            np.array([getattr(share, end) for share in shares], dtype=np.float64)
            for end in ("value", "low", "high")
        )
        chart = draw_curves(
            [Line(x=days, y=value, low=low, high=high)],
            title=f"{heading}: share known by age of the window",
            identifier=f"arrival-{heading.casefold()}",
            x_title="Days after the end of the window",
            across=(0.0, float(days[-1]) or 1.0),
        )
        if chart:
            drawings.append(
                Drawing(
                    heading=f"{heading} that have come, of those that come by the maturity",
                    chart=chart,
                    columns=("Days after the end of the window", "Share known"),
                    lines=[
                        (f"{day:g}", _share_text(share))
                        for day, share in zip(days, shares, strict=True)
                    ],
                )
            )
    return drawings


def _share_text(share: IntervalView) -> str:
    if share.value is None or share.low is None or share.high is None:
        return ""
    return percent_with_interval(share.value, share.low, share.high)
