"""A rule tried out on the history of a monitor: when it would have fired, how often for nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from werkzeug.exceptions import ServiceUnavailable

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.simulation import RuleReplay, simulate_alerts
from pumonitor.monitor.config.other_rules import with_rule
from pumonitor.monitor.dashboard.pages.incidents_shown import incidents_drawn
from pumonitor.monitor.dashboard.pages.monitor_page import usual_metric
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.configuration_changes import stored_hash
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
from pumonitor.monitor.windows.evaluate import references_in
from pumonitor.text import count_text

_LONGEST: Final = 2000
_CPU_SECONDS: Final = 10.0
_MOST_EVENTS: Final = 100
# It computes for seconds: others wait for no more than one.
_ONE_AT_A_TIME: Final = Lock()


def simulate_page(
    site: Site,
    monitor: str,
    query: Mapping[str, str],
    *,
    link: Callable[[Transition], str],
    clock: Callable[[], float] = time.thread_time,
) -> dict[str, Any]:
    """What the page shows: the form and, if it has a rule, what that would have done.

    Parameters
    ----------
    site : Site
    monitor : str
    query : mapping of str to str
        ``rule`` in YAML.
    link : callable
        Address of what a transition is about.
    clock : callable, optional
        Seconds of work of this thread.

    Raises
    ------
    InputError
        If the rule is invalid, or the replay takes too long.
    ServiceUnavailable
        While another rule is tried out.
    """
    text = query.get("rule", "").strip()
    if len(text) > _LONGEST:
        msg = f"rule must have at most {_LONGEST:,} characters, got {len(text):,}"
        raise InputError(msg)
    now, zone = site.clock(), site.zone(monitor)
    found = _replayed(site, monitor, text, clock) if text else None
    with site.at_once() as ledger:
        evaluated = ledger.newest_results(monitors=[monitor], metrics=["predictions"]).as_of
    until = min(max(evaluated, default=now), now)
    return {
        "monitor": monitor,
        "zone": zone,
        "text": text,
        "example": f"{{metric: {usual_metric(site.monitors[monitor])}, below: 0.5, for: 2}}",
        "found": found,
        "fired": sum(one.kind == "fired" for one in found.events) if found else 0,
        "events": found.events[: -_MOST_EVENTS - 1 : -1] if found else (),
        "chart": incidents_drawn(found.events, until=until, zone=zone, link=link) if found else "",
    }


def _replayed(site: Site, monitor: str, text: str, clock: Callable[[], float]) -> RuleReplay:
    tried = with_rule(site.monitors[monitor], text)
    begin = clock()

    def check() -> None:
        if clock() - begin > _CPU_SECONDS:
            msg = (
                f"the replay takes more than {count_text(_CPU_SECONDS)} seconds, which is too long "
                f"for a page: pumonitor alerts simulate {monitor} has no such limit"
            )
            raise InputError(msg)

    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise ServiceUnavailable(
            "another rule is being tried out: try again in a few seconds",
            retry_after=round(_CPU_SECONDS),
        )
    try:
        with site.at_once() as ledger:
            [found] = simulate_alerts(
                ledger,
                tried,
                # The results that all pages show.
                ledger.configuration(monitor) or stored_hash(ledger, tried),
                references=references_in(ledger, FollowedPriors(ledger)),
                now=site.clock(),
                on_step=check,
            )
    finally:
        _ONE_AT_A_TIME.release()
    return found
