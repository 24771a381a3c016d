"""Answers about challengers and promotions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pumonitor.monitor.dashboard.api.challenger_answers import (
    ChallengerAnswer,
    Challengers,
    PromotionAnswer,
    Promotions,
)
from pumonitor.monitor.dashboard.api.queries import ListQuery, NoQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.pages.challengers_found import challengers_found


def challengers_answer(
    reading: Reading, path: Mapping[str, str], query: NoQuery
) -> Callable[[], Challengers]:
    """What judges the challengers of a monitor, to be called after the snapshot."""
    name, site = reading.seen(path["monitor"]), reading.site

    def computed() -> Challengers:
        found = challengers_found(site, name)
        problems = {one.name: one.reason for one in found.others}
        problems |= {
            one.name: one.problem for one in found.noted.values() if one.problem is not None
        }
        return Challengers(
            monitor=name,
            challengers=[ChallengerAnswer.model_validate(one) for one in found.judged],
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
        items=[PromotionAnswer.model_validate(one.to_dict()) for one in shown],
        next=next_cursor(query, [shown[-1].id] if len(found) > len(shown) else None, of=[name]),
    )
