"""The application that MLflow would have run, which answers everything but the pages."""

from __future__ import annotations

import hashlib
import importlib
import os
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from pumonitor.errors import InputError, no_such

VARIABLE: Final = "PUMONITOR_MLFLOW_APP"
"""Name of the application to wrap, such as ``basic-auth``; MLflow's own without it."""

_SERVER: Final = "_MLFLOW_SGI_NAME"
_PREFIX: Final = "_MLFLOW_STATIC_PREFIX"
_WORKSPACES: Final = "MLFLOW_ENABLE_WORKSPACES"
_OURS: Final = "pumonitor"


def is_asgi_server() -> bool:
    """Whether MLflow runs uvicorn, its default, and not gunicorn or waitress."""
    return os.environ.get(_SERVER) == "uvicorn"


def static_prefix() -> str:
    """The prefix that ``mlflow server --static-prefix`` puts before every path; "" without one."""
    return os.environ.get(_PREFIX, "").rstrip("/")


def api_prefix() -> str:
    """The prefix of the paths of the API: in old versions, as 3.9, that is none in any case."""
    prefix = static_prefix()
    if not prefix:
        return ""
    from mlflow.server import app

    known = {rule.rule for rule in app.url_map.iter_rules()}
    return prefix if f"{prefix}/api/2.0/mlflow/experiments/search" in known else ""


def has_accounts() -> bool:
    """Whether the wrapped application is one that signs people in, and not MLflow's own."""
    return bool(os.environ.get(VARIABLE))


def has_workspaces() -> bool:
    """Whether ``mlflow server --enable-workspaces`` runs."""
    return os.environ.get(_WORKSPACES, "").lower() in {"true", "1"}


def wrapped_app() -> Any:
    """The application: ASGI under uvicorn, else WSGI.

    Raises
    ------
    InputError
        If ``PUMONITOR_MLFLOW_APP`` names no application that is installed, or this one.
    """
    name = os.environ.get(VARIABLE, "")
    if not name:
        module = "mlflow.server.fastapi_app" if is_asgi_server() else "mlflow.server"
        return importlib.import_module(module).app
    known = {one.name: one for one in entry_points(group="mlflow.app") if one.name != _OURS}
    if name not in known:
        raise InputError(f"{VARIABLE}: {no_such('application', name, known)}")
    with _alone(name):
        made = known[name].load()
        return made() if isinstance(made, types.FunctionType) else made


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """One worker at a time: each makes an empty user database ready when it starts.

    MLflow does so before it starts workers, but only where it runs its own application itself.
    """
    try:
        import fcntl
    except ImportError:  # Windows, where MLflow starts waitress with one process
        yield
        return
    # A folder of this user alone: another could hold a file in the common one for ever.
    folder = Path(tempfile.gettempdir()) / f"pumonitor-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        msg = f"{folder} belongs to another user: name a folder of your own in TMPDIR"
        raise InputError(msg)
    of = f"{name} {os.environ.get('MLFLOW_AUTH_CONFIG_PATH', '')}"
    file = folder / f"{hashlib.sha256(of.encode()).hexdigest()[:16]}.lock"
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
