"""Answers about challengers, promotions and labels: what is computed after the snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pumonitor.monitor.dashboard.api.answers import Promotions
from pumonitor.monitor.dashboard.api.queries import ListQuery, NoQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.pages.challengers_found import challengers_found
from pumonitor.monitor.dashboard.pages.labels_page import health_of
from pumonitor.monitor.views.challengers import ChallengersView
from pumonitor.monitor.views.labels import LabelsView


def challengers_answer(
    reading: Reading, path: Mapping[str, str], query: NoQuery
) -> Callable[[], ChallengersView]:
    """What judges the challengers of a monitor, to be called after the snapshot."""
    name, site = reading.seen(path["monitor"]), reading.site

    def computed() -> ChallengersView:
        found = challengers_found(site, name)
        problems = {one.name: one.reason for one in found.others}
        problems |= {
            one.name: one.problem for one in found.noted.values() if one.problem is not None
        }
        return ChallengersView(
            monitor=name,
            challengers=list(found.judged),
            failures=[f"challenger {one}: {why}" for one, why in sorted(problems.items())],
        )

    return computed


def promotions_answer(reading: Reading, path: Mapping[str, str], query: ListQuery) -> Promotions:
    """Promotions of a monitor."""
    name = reading.seen(path["monitor"])
    before = key_asked(query, [0], of=[name])
    found = reading.ledger.promotions.all(
        name, before=None if before is None else before[0], limit=query.limit + 1
    )
    shown = found[: query.limit]
    return Promotions(
        items=list(shown),
        next=next_cursor(query, [shown[-1].id] if len(found) > len(shown) else None, of=[name]),
    )


def labels_answer(
    reading: Reading, path: Mapping[str, str], query: NoQuery
) -> Callable[[], LabelsView]:
    """What looks at the labels of a monitor, to be called after the snapshot."""
    name, site = reading.seen(path["monitor"]), reading.site
    return lambda: health_of(site, name)
