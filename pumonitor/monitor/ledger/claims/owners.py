"""Who holds a lease: a process, told from all others that ever had its number.

Numbers of processes come again, and containers may share the name of a host and both begin at 1. So
an owner is known by its host, its number, when it began, and the machine: the boot of the kernel
and the namespace in which its number counts. Whether it still lives can be asked on its own machine
alone, and where /proc is: elsewhere a lease has to run out.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Owner", "is_dead", "lives_here", "owner_of", "shown_owner", "this_process"]

_PROC = Path("/proc")
_ENDED = frozenset("ZX")
"""States of a process that has ended and whom nobody has asked how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process, or a part of one.

    Attributes
    ----------
    host : str
    pid : int
    began : int
        Ticks of the kernel's clock since the boot; 0 where that is not known.
    machine : str
        Of the boot and the namespace of process numbers; "" where that is not known.

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
        """For people."""
        return f"{self.host}, process {self.pid}"


def this_process() -> Owner:
    """The process that asks."""
    pid = os.getpid()
    began, _ = _beginning_and_state(pid) or (0, "")
    host = socket.gethostname().replace("/", "-")
    return Owner(host=host, pid=pid, began=began, machine=_machine())


def owner_of(text: str) -> Owner | None:
    """The owner that such a text stands for, None for another text.

    Anything after a space is left out: it tells the claims of one owner apart.
    """
    parts = text.partition(" ")[0].split("/")
    if len(parts) != 4 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    return Owner(host=parts[0], pid=int(parts[1]), began=int(parts[2]), machine=parts[3])


def shown_owner(text: str) -> str:
    """An owner for people; what is none as it is."""
    owner = owner_of(text)
    return text if owner is None else owner.shown


def is_dead(text: str) -> bool:
    """Whether an owner is known to have ended; False if that cannot be known from here."""
    return _lives(text) is False


def lives_here(text: str) -> bool:
    """Whether an owner is known to live."""
    return _lives(text) is True


def _lives(text: str) -> bool | None:
    """None where it cannot be known from here."""
    owner = owner_of(text)
    if owner is None or not (owner.machine and owner.began) or owner.machine != _machine():
        return None
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is somebody else's, and there.
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
