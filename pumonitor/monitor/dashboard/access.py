"""Who asks, which monitors they see, and which of them they may change."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from flask import abort, g
from werkzeug.exceptions import HTTPException, TooManyRequests, Unauthorized

from pumonitor.monitor.changes import local_user
from pumonitor.monitor.ledger.database.errors import StateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever asks for a page.

    Attributes
    ----------
    name : str
        For the audit log and for notes.
    visible : collection of str
        Monitors that they may see: for them all others do not exist.
    may_change : callable
        Whether they may acknowledge and silence alerts of a monitor that they see, and write notes
        about it. It is a question and no list, as each answer may cost a password check.
    is_admin : bool
        Whether they may change what concerns all monitors.
    """

    name: str
    visible: Collection[str]
    may_change: Callable[[str], bool]
    is_admin: bool = False


def local_caller(monitors: Collection[str]) -> Caller:
    """The user of this machine, who may see and change everything."""
    return Caller(
        name=local_user(), visible=monitors, may_change=lambda _monitor: True, is_admin=True
    )


class Access:
    """What the caller of the present request may see and change; they are asked for once.

    Parameters
    ----------
    monitors : collection of str
        Those that are configured, in the order in which lists show them.
    caller : callable
        Who makes the present request.
    """

    def __init__(self, monitors: Collection[str], caller: Callable[[], Caller]) -> None:
        self._monitors = monitors
        self._caller = caller

    def caller(self) -> Caller:
        """Who makes the present request."""
        if "refused" in g:
            raise g.refused
        if "caller" not in g:
            try:
                g.caller = self._caller()
            except (HTTPException, StateError) as error:
                # The page that says so asks again: it neither counts twice nor waits twice.
                g.refused = error
                raise
        found: Caller = g.caller
        return found

    def name(self) -> str:
        """Name of whoever asks; "" for somebody who has not signed in, or is not known now."""
        try:
            return self.caller().name
        except (TooManyRequests, Unauthorized, StateError):
            return ""

    def is_admin(self) -> bool:
        """Whether they may change what concerns all monitors; False where they are not known."""
        try:
            return self.caller().is_admin
        except (HTTPException, StateError):
            return False

    def visible(self) -> list[str]:
        """Monitors that the caller may see."""
        visible = self.caller().visible
        return [name for name in self._monitors if name in visible]

    def seen(self, monitor: str) -> str:
        """The name of a monitor; answers 404 unless the caller may see it."""
        if monitor not in self.visible():
            abort(404)
        return monitor

    def may_change(self, monitor: str) -> bool:
        """Whether the caller may change a monitor; False for one that they do not see."""
        return monitor in self.visible() and self.caller().may_change(monitor)

    def changed(self, monitor: str) -> str:
        """The name of a monitor; answers 404 unless it may be seen, 403 unless changed."""
        if not self.caller().may_change(self.seen(monitor)):
            abort(403, f"You may see {monitor}, but not change it.")
        return monitor
