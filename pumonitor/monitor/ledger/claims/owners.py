"""Identity of a process that holds a lease.

Process ids are reused, and containers may share a host name and each start at 1. So an owner is
identified by host, process id, start time and machine (boot of the kernel and pid namespace).
Whether it is alive can be checked only on its own machine, and only with /proc; elsewhere its lease
must expire.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ENDED = frozenset("ZX")
"""States in /proc of a process that has ended (zombie or dead)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process, or a part of one.

    Attributes
    ----------
    host : str
    pid : int
    began : int
        Start time in ticks of the kernel's clock since boot; 0 if unknown.
    machine : str
        Hash of the boot and the pid namespace; "" if unknown.

    Examples
    --------
    >>> owner = Owner(host="web-1", pid=4711, began=88123, machine="5f0e3c")
    >>> str(owner), owner.shown, owner_of(str(owner)) == owner
    ('web-1/4711/88123/5f0e3c', 'web-1, process 4711', True)
    """

    host: str
    pid: int
    began: int = 0
    machine: str = ""

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.began}/{self.machine}"

    @property
    def shown(self) -> str:
        """Display name."""
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """The current process as an owner."""
    pid = os.getpid()
    began, _ = _beginning_and_state(pid) or (0, "")
    host = socket.gethostname().replace("/", "-")
    return Owner(host=host, pid=pid, began=began, machine=_machine())


def owner_of(text: str) -> Owner | None:
    """Parse an owner from its text; None if it is no owner.

    Anything after a space is ignored; it distinguishes claims of the same owner.
    """
    parts = text.partition(" ")[0].split("/")
    if len(parts) != 4 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    return Owner(host=parts[0], pid=int(parts[1]), began=int(parts[2]), machine=parts[3])


def shown_owner(text: str) -> str:
    """Display name of an owner; other text is returned as it is."""
    owner = owner_of(text)
    return text if owner is None else owner.shown


def is_dead(text: str) -> bool:
    """Whether an owner is known to have ended; False if that cannot be checked from here."""
    return _lives(text) is False


def lives_here(text: str) -> bool:
    """Whether an owner is known to be alive; False if that cannot be checked from here."""
    return _lives(text) is True


def _lives(text: str) -> bool | None:
    """Whether an owner is alive; None if that cannot be checked from here."""
    owner = owner_of(text)
    if owner is None or not (owner.machine and owner.began) or owner.machine != _machine():
        return None
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # The process belongs to another user and exists.
    found = _beginning_and_state(owner.pid)
    if found is None:
        # It ended just now, or is hidden from other users.
        return None
    began, state = found
    return began == owner.began and state not in _ENDED


def _beginning_and_state(pid: int) -> tuple[int, str] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        # The second field is the name in brackets, which may hold anything.
        fields = text.rpartition(")")[2].split()
        return int(fields[19]), fields[0]
    except (OSError, ValueError, IndexError):
        return None


def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = (_PROC / "self/ns/pid").readlink()
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(f"{boot} {namespace}".encode()).hexdigest()[:16]
