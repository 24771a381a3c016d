"""What the dashboard shows: variables, panels, annotations, links to the pages."""

from __future__ import annotations

import json
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders.common import ReduceDataOptions, VizLegendOptions
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

__all__ = ["dashboard_json"]

_SOURCE: Final = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
_MONITOR: Final = 'monitor=~"$monitor"'
_SERIES: Final = f'{_MONITOR}, model_version=~"$version", segment=~"$segment"'
_FIRST_METRICS: Final = ("class_prior", "precision", "recall", "f1")

# A version is written into an address as `pumonitor.monitor.page_addresses` does it. Series without
# a label have none of it, and their link then names no version: the page shows the one with most
# predictions.
_PAGE: Final = "${pages}/monitors/${__field.labels.monitor}"
_OF_SERIES: Final = (
    "?version=${__field.labels.model_version:percentencode}"
    "&segment=${__field.labels.segment:percentencode}"
)


def dashboard_json() -> str:
    """The dashboard as JSON, the same text every time."""
    board = (
        build.Dashboard("pumonitor: models whose negatives are never confirmed")
        .uid("pumonitor")
        .description(
            "Estimates of the newest mature window of each monitor, alerts, and whether pumonitor "
            "itself works. Made by python -m deploy.grafana; change it there."
        )
        .tags(["pumonitor"])
        .readonly()
        .refresh("5m")
        .time("now-30d", "now")
        .timezone("browser")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .link(_overview_link())
        .annotation(_firing())
    )
    for variable in _variables():
        board = board.with_variable(variable)
    place = _Place()
    board = board.with_row(build.Row("Now").grid_pos(place.row()))
    for panel, width, height in _now():
        board = board.with_panel(panel.grid_pos(place.next(width, height)))
    board = board.with_row(build.Row("Estimates of mature windows").grid_pos(place.row()))
    board = board.with_panel(_estimates().grid_pos(place.next(12, 8)))
    board = board.with_row(build.Row("Windows, labels and messages").grid_pos(place.row()))
    for panel, width, height in _work():
        board = board.with_panel(panel.grid_pos(place.next(width, height)))
    made = _numbered(board.build())
    return json.dumps(made, cls=JSONEncoder, indent=2, ensure_ascii=False) + "\n"


def _numbered(board: model.Dashboard) -> model.Dashboard:
    """With a number for each panel: Grafana would give them others at each import."""
    for number, panel in enumerate(board.panels or [], start=1):
        panel.id_val = number
    return board


class _Place:
    """Where the next panel goes, in a grid of 24 columns."""

    def __init__(self) -> None:
        self._x = self._y = self._height = 0

    def row(self) -> model.GridPos:
        self._y += self._height
        self._x, self._height = 0, 0
        found = model.GridPos(h=1, w=24, x=0, y=self._y)
        self._y += 1
        return found

    def next(self, width: int, height: int) -> model.GridPos:
        if self._x + width > 24:
            self._y += self._height
            self._x, self._height = 0, 0
        found = model.GridPos(h=height, w=width, x=self._x, y=self._y)
        self._x += width
        self._height = max(self._height, height)
        return found


def _variables() -> list[Any]:
    everything = model.VariableOption(text="All", value="$__all")
    first = model.VariableOption(
        text=list(_FIRST_METRICS), value=list(_FIRST_METRICS), selected=True
    )
    return [
        build.DatasourceVariable("datasource").label("Prometheus").type("prometheus"),
        _labels("pages", "label_values(pumonitor_pages_info, address)")
        .description("Address of pumonitor's pages, from pages: in its configuration")
        .hide(model.VariableHide.HIDE_VARIABLE),
        _labels("monitor", "label_values(pumonitor_windows, monitor)")
        .label("Monitor")
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(everything),
        _labels(
            "version",
            f"label_values(pumonitor_window_end_timestamp_seconds{{{_MONITOR}}}, model_version)",
        )
        .label("Model version")
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(everything),
        # Nothing is the segment of all rows, which Prometheus keeps as a label that is missing.
        _labels(
            "segment",
            f"label_values(pumonitor_window_end_timestamp_seconds{{{_MONITOR}}}, segment)",
        )
        .label("Segment (All: all rows together)")
        .include_all(True)
        .all_value("^$")
        .current(everything),
        _labels(
            "metric",
            f'label_values(pumonitor_estimate{{{_MONITOR}, bound="value"}}, metric)',
        )
        .label("Estimate")
        .multi(True)
        .current(first),
    ]


def _labels(name: str, query: str) -> build.QueryVariable:
    return (
        build.QueryVariable(name)
        .query(query)
        .datasource(_SOURCE)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
    )


def _overview_link() -> build.DashboardLink:
    return (
        build.DashboardLink("Pages of pumonitor")
        .type(model.DashboardLinkType.LINK)
        .icon("external link")
        .url("${pages}/")
        .target_blank(True)
    )


def _page_link(address: str) -> build.DashboardLink:
    return build.DashboardLink("Open its page").url(address).target_blank(True)


def _firing() -> build.AnnotationQuery:
    firing = f"pumonitor_alert_firing{{{_SERIES}}} == 1"
    return (
        build.AnnotationQuery()
        .name("An alert fired")
        .datasource(_SOURCE)
        .enable(True)
        .icon_color("red")
        .expr(f"({firing}) unless (pumonitor_alert_firing{{{_SERIES}}} offset 10m == 1)")
    )


def _query(expression: str, *, legend: str = "", name: str = "A") -> prometheus.Dataquery:
    found = prometheus.Dataquery().expr(expression).ref_id(name).datasource(_SOURCE)
    return found.legend_format(legend) if legend else found


def _number(
    title: str, description: str, expression: str, *, red_from: float, unit: str = "short"
) -> stat.Panel:
    limits = [
        model.Threshold(value=None, color="green"),
        model.Threshold(value=red_from, color="red"),
    ]
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(_SOURCE)
        .unit(unit)
        .thresholds(build.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(limits))
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(_query(expression).instant())
    )


def _now() -> list[tuple[Any, int, int]]:
    day = 86_400.0
    return [
        (
            _number(
                "Alerts that fire",
                "Rules with an open incident, of all segments.",
                f"sum(pumonitor_alert_firing{{{_MONITOR}}}) or vector(0)",
                red_from=1,
            ),
            6,
            4,
        ),
        (
            _number(
                "Windows that fail",
                "Windows whose evaluation is due and whose last attempt failed: pumonitor doctor.",
                f"sum(pumonitor_windows_failing{{{_MONITOR}}})",
                red_from=1,
            ),
            6,
            4,
        ),
        (
            _number(
                "Oldest evaluation that is due",
                "Time since it became due; 0 if none is due.",
                f"max(pumonitor_oldest_unfinished_window_age_seconds{{{_MONITOR}}})",
                red_from=day,
                unit="s",
            ),
            6,
            4,
        ),
        (
            _number(
                "Oldest message that waits",
                "Time since a destination should have had it.",
                "max(pumonitor_outbox_oldest_age_seconds) or vector(0)",
                red_from=3600,
                unit="s",
            ),
            6,
            4,
        ),
        (_firing_table(), 24, 7),
    ]


def _firing_table() -> table.Panel:
    hidden = [model.DynamicConfigValue(id_val="custom.hidden", value=True)]
    query = _query(f"pumonitor_alert_firing{{{_MONITOR}}} == 1").instant()
    link = "${pages}/monitors/${__data.fields.monitor}"
    return (
        table.Panel()
        .title("Alerts that fire")
        .description("Cause, evidence and history are on their pages, to which each cell links.")
        .datasource(_SOURCE)
        .no_value("No alert fires")
        .show_header(True)
        .data_links([_page_link(link)])
        .override_by_regexp("/^(Time|Value|__name__|instance|job|rule_key)$/", hidden)
        .with_target(query.format(PromQueryFormat.TABLE))
    )


def _estimates() -> timeseries.Panel:
    """One panel for each estimate that is chosen: its value, and the ends of its interval."""
    legend = "{{monitor}} {{model_version}} {{segment}}"
    ends = [
        model.DynamicConfigValue(id_val="custom.lineWidth", value=1),
        model.DynamicConfigValue(id_val="custom.lineStyle", value={"fill": "dash", "dash": [4, 6]}),
    ]
    panel = (
        timeseries.Panel()
        .title("$metric")
        .description(
            "Of the newest mature window; dashed are the ends of the 95% interval. They are "
            "missing where the estimate, or the class prior it stands on, is impossible."
        )
        .datasource(_SOURCE)
        .repeat("metric")
        .repeat_direction("h")
        .max(1)
        .legend(_legend())
        .line_interpolation(common.LineInterpolation.STEP_AFTER)
        .line_width(2)
        .show_points(common.VisibilityMode.NEVER)
        .span_nulls(True)
        .data_links([_page_link(_PAGE + _OF_SERIES + "&metric=${metric}")])
        .override_by_regexp("/ (low|high)$/", ends)
    )
    for name, bound in (("A", "value"), ("B", "low"), ("C", "high")):
        chosen = f'pumonitor_estimate{{{_SERIES}, metric="$metric", bound="{bound}"}}'
        panel = panel.with_target(_query(chosen, legend=f"{legend} {bound}", name=name))
    return panel


def _legend() -> VizLegendOptions:
    place = VizLegendOptions().placement(common.LegendPlacement.BOTTOM)
    return place.display_mode(common.LegendDisplayMode.LIST).show_legend(True)


def _lines(title: str, description: str, expression: str, *, legend: str, unit: str) -> Any:
    return (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(_SOURCE)
        .unit(unit)
        .min(0)
        .legend(_legend())
        .show_points(common.VisibilityMode.NEVER)
        .with_target(_query(expression, legend=legend))
    )


def _work() -> list[tuple[Any, int, int]]:
    ended = f"pumonitor_window_end_timestamp_seconds{{{_SERIES}}}"
    counted = 'metric=~"predictions|labeled_positives", bound="value"'
    by_series = "{{monitor}} {{model_version}} {{segment}}"
    linked = [_page_link(_PAGE)]
    return [
        (
            _lines(
                "Rows of the newest mature window",
                "Predictions and confirmed positives.",
                f"pumonitor_estimate{{{_SERIES}, {counted}}}",
                legend=f"{by_series} {{{{metric}}}}",
                unit="short",
            ).data_links([_page_link(_PAGE + _OF_SERIES)]),
            12,
            8,
        ),
        (
            _lines(
                "Age of the newest mature window",
                "A series that has stopped keeps its last numbers, and grows older here.",
                f"time() - {ended}",
                legend=by_series,
                unit="s",
            ).data_links(linked),
            12,
            8,
        ),
        (
            _lines(
                "Evaluations that are due",
                "Windows with an evaluation that is due.",
                f"pumonitor_windows_unfinished{{{_MONITOR}}}",
                legend="{{monitor}}",
                unit="short",
            ).data_links(linked),
            8,
            7,
        ),
        (
            _lines(
                "Since the last evaluation, and the last prediction",
                "",
                f"time() - pumonitor_last_success_timestamp_seconds{{{_MONITOR}}}",
                legend="{{monitor}} evaluated",
                unit="s",
            )
            .data_links(linked)
            .with_target(
                _query(
                    f"time() - pumonitor_last_prediction_timestamp_seconds{{{_MONITOR}}}",
                    legend="{{monitor}} predicted",
                    name="B",
                )
            ),
            8,
            7,
        ),
        (
            _lines(
                "Messages that wait or were refused",
                "By destination; pumonitor doctor says why.",
                "pumonitor_outbox_messages or vector(0)",
                legend="{{destination}} waiting",
                unit="short",
            ).with_target(
                _query(
                    "pumonitor_outbox_set_aside or vector(0)",
                    legend="{{destination}} refused",
                    name="B",
                )
            ),
            8,
            7,
        ),
    ]
