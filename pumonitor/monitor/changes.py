"""What people do: each change is made and written to the audit log, with their name."""

from __future__ import annotations

__all__ = ["local_user"]


def local_user() -> str:
    """Name of the user of this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
