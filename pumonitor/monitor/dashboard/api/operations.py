"""Every operation of the API: what is asked, what is answered, and by which function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pumonitor.monitor.dashboard.api import (
    answers,
    bodies,
    decide_answers,
    queries,
)
from pumonitor.monitor.dashboard.api.alerts import (
    alerts_answer,
    history_answer,
    incidents_answer,
    silences_answer,
)
from pumonitor.monitor.dashboard.api.challengers import (
    challengers_answer,
    labels_answer,
    promotions_answer,
)
from pumonitor.monitor.dashboard.api.changing import (
    acknowledge,
    add_note,
    end_silence,
    notes_answer,
    silence,
    unacknowledge,
    withdraw_note,
)
from pumonitor.monitor.dashboard.api.decide import decide_answer
from pumonitor.monitor.dashboard.api.health import configurations_answer, health_answer
from pumonitor.monitor.dashboard.api.monitors import (
    monitor_answer,
    monitors_answer,
    series_answer,
)
from pumonitor.monitor.dashboard.api.values import Asked
from pumonitor.monitor.dashboard.api.windows import (
    results_answer,
    window_answer,
    windows_answer,
)
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.views.challengers import ChallengersView
from pumonitor.monitor.views.labels import LabelsView
from pumonitor.monitor.views.series import SeriesView
from pumonitor.views.model import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Another operation that an answer leads to.

    Attributes
    ----------
    to : str
        Id of the operation.
    parameters : mapping of str to str
        Its parameters, as runtime expressions of OpenAPI.
    """

    to: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    Attributes
    ----------
    id, path, summary : str
        The path as OpenAPI writes it, below ``/api/v1``.
    answer : type
    links : mapping of str to Link
    """

    id: str
    path: str
    summary: str
    answer: type[View]
    links: Mapping[str, Link] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Operation):
    """A GET.

    Attributes
    ----------
    query : type
    read : callable
        Makes the answer from a `Reading`, the path's parameters and the query; or, where that takes
        long, what makes it once the database has been read.
    is_of_now : bool
        Whether the answer depends on the time, and not on what is asked and stored alone.
    shows_rights : bool
        Whether the answer says that the caller may change the monitor of the path.
    is_computed : bool
        Whether it takes long, and parameters can exclude each other.
    """

    query: type[Asked] = queries.NoQuery
    is_of_now: bool = False
    shows_rights: bool = False
    is_computed: bool = False
    read: Callable[[Any, Mapping[str, str], Any], View | Callable[[], View]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Operation):
    """A POST.

    Attributes
    ----------
    body : type
    change : callable
        Makes the change and the answer from a `Changing`, the path's parameters and the body.
    status : int
    """

    body: type[Asked]
    change: Callable[[Any, Mapping[str, str], Any], View]
    status: int = 200


_ONE: Final = {"monitor": "$response.body#/items/0/name"}
_SAME: Final = {"monitor": "$request.path.monitor"}

READS: Final = (
    Read(
        id="listMonitors",
        path="/monitors",
        summary="Monitors and where they stand",
        query=queries.ListQuery,
        answer=answers.Monitors,
        read=monitors_answer,
        is_of_now=True,
        links={
            name: Link(to=to, parameters=_ONE)
            for name, to in (
                ("monitor", "getMonitor"),
                ("series", "getSeries"),
                ("windows", "listWindows"),
                ("decision", "getDecision"),
                ("configurations", "listConfigurations"),
                ("challengers", "getChallengers"),
                ("labels", "getLabels"),
                ("promotions", "listPromotions"),
                ("acknowledge", "acknowledge"),
                ("silence", "silence"),
                ("note", "addNote"),
            )
        },
    ),
    Read(
        id="getMonitor",
        path="/monitors/{monitor}",
        summary="One monitor, and what can be asked about it",
        answer=answers.MonitorAnswer,
        read=monitor_answer,
        is_of_now=True,
        shows_rights=True,
        links={
            "series": Link(
                to="getSeries", parameters=_SAME | {"metric": "$response.body#/metrics/0"}
            )
        },
    ),
    Read(
        id="getSeries",
        path="/monitors/{monitor}/series",
        summary="One metric over windows",
        query=queries.SeriesQuery,
        answer=SeriesView,
        read=series_answer,
        links={
            "window": Link(
                to="getWindow",
                parameters=_SAME | {"start": "$response.body#/items/0/window_start"},
            )
        },
    ),
    Read(
        id="listWindows",
        path="/monitors/{monitor}/windows",
        summary="Windows, the newest first",
        query=queries.WindowsQuery,
        answer=answers.Windows,
        read=windows_answer,
        links={
            "window": Link(
                to="getWindow", parameters=_SAME | {"start": "$response.body#/items/0/start"}
            )
        },
    ),
    Read(
        id="getWindow",
        path="/monitors/{monitor}/windows/{start}",
        summary="One window: estimates, looks, revisions, doubts",
        query=queries.WindowQuery,
        answer=answers.WindowAnswer,
        read=window_answer,
    ),
    Read(
        id="getDecision",
        path="/monitors/{monitor}/decide",
        summary="What thresholds bring, the best one, and which review would tell more",
        query=queries.DecideQuery,
        answer=decide_answers.Decided,
        read=decide_answer,
        is_computed=True,
        links={
            "window": Link(
                to="getWindow", parameters=_SAME | {"start": "$response.body#/window_start"}
            )
        },
    ),
    Read(
        id="getChallengers",
        path="/monitors/{monitor}/challengers",
        summary="Challengers beside the deployed model, with the fields of pumonitor challenge",
        answer=ChallengersView,
        read=challengers_answer,
        is_computed=True,
    ),
    Read(
        id="getLabels",
        path="/monitors/{monitor}/labels",
        summary="Where labels come from, how late they are, and what more reviews would tell",
        answer=LabelsView,
        read=labels_answer,
        is_computed=True,
    ),
    Read(
        id="listPromotions",
        path="/monitors/{monitor}/promotions",
        summary="Promotions, with the fields of pumonitor promote --history",
        query=queries.ListQuery,
        answer=answers.Promotions,
        read=promotions_answer,
    ),
    Read(
        id="listConfigurations",
        path="/monitors/{monitor}/configurations",
        summary="Configurations under which windows were evaluated, and what changed",
        answer=answers.Configurations,
        read=configurations_answer,
    ),
    Read(
        id="listResults",
        path="/results",
        summary="All results, with the fields of pumonitor results",
        query=queries.ResultsQuery,
        answer=answers.Results,
        read=results_answer,
        links={
            "next": Link(to="listResults", parameters={"cursor": "$response.body#/next"}),
            "window": Link(
                to="getWindow",
                parameters={
                    "monitor": "$response.body#/items/0/monitor",
                    "start": "$response.body#/items/0/window_start",
                },
            ),
        },
    ),
    Read(
        id="listAlerts",
        path="/alerts",
        summary="Alerts in their present state",
        query=queries.AlertsQuery,
        answer=answers.Alerts,
        read=alerts_answer,
        is_of_now=True,
    ),
    Read(
        id="listIncidents",
        path="/incidents",
        summary="Alerts that fire, those of one change together",
        query=queries.OneMonitorQuery,
        answer=answers.Incidents,
        read=incidents_answer,
        is_of_now=True,
    ),
    Read(
        id="listHistory",
        path="/alerts/history",
        summary="What happened to alerts, the newest first",
        query=queries.HistoryQuery,
        answer=answers.Events,
        read=history_answer,
    ),
    Read(
        id="listSilences",
        path="/silences",
        summary="Silences in force and to come",
        query=queries.OneMonitorQuery,
        answer=answers.Silences,
        read=silences_answer,
        is_of_now=True,
    ),
    Read(
        id="listNotes",
        path="/notes",
        summary="Notes of people, the newest first",
        query=queries.NotesQuery,
        answer=answers.Notes,
        read=notes_answer,
    ),
    Read(
        id="getHealth",
        path="/health",
        summary="Whether the state database answers, and what is late",
        answer=answers.Health,
        read=health_answer,
        is_of_now=True,
    ),
)

_OF_MONITOR: Final = "/monitors/{monitor}"
_NUMBERED: Final = _SAME | {"number": "$response.body#/id"}

CHANGES: Final = (
    Change(
        id="acknowledge",
        path=f"{_OF_MONITOR}/acknowledge",
        summary="Acknowledge alerts that fire: no more reminders are sent",
        body=bodies.AcknowledgeBody,
        answer=answers.Acknowledged,
        change=acknowledge,
        links={"takeBack": Link(to="unacknowledge", parameters=_SAME)},
    ),
    Change(
        id="unacknowledge",
        path=f"{_OF_MONITOR}/unacknowledge",
        summary="Take acknowledgements back: reminders are sent again",
        body=bodies.AcknowledgeBody,
        answer=answers.Acknowledged,
        change=unacknowledge,
    ),
    Change(
        id="silence",
        path=f"{_OF_MONITOR}/silences",
        summary="Silence alerts: no notifications are sent until a time",
        body=bodies.SilenceBody,
        answer=Silence,
        change=silence,
        status=201,
        links={"end": Link(to="endSilence", parameters=_NUMBERED)},
    ),
    Change(
        id="endSilence",
        path=f"{_OF_MONITOR}/silences/{{number}}/end",
        summary="End a silence now",
        body=bodies.NoBody,
        answer=Silence,
        change=end_silence,
    ),
    Change(
        id="addNote",
        path=f"{_OF_MONITOR}/notes",
        summary="Write a note",
        body=bodies.NoteBody,
        answer=Note,
        change=add_note,
        status=201,
        links={"withdraw": Link(to="withdrawNote", parameters=_NUMBERED)},
    ),
    Change(
        id="withdrawNote",
        path=f"{_OF_MONITOR}/notes/{{number}}/withdraw",
        summary="Withdraw a note",
        body=bodies.NoBody,
        answer=Note,
        change=withdraw_note,
    ),
)

OPERATIONS: Final[tuple[Operation, ...]] = (*READS, *CHANGES)
