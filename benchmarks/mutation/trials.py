"""Runs tests against a mutant, in a process that has imported all libraries before.

`Trials` is the side that asks; this file run as a script is the side that answers: it forks for
every mutant, so that a trial costs the tests it runs and little else.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Trials"]

# What takes longest to import of what tests need. Nothing of the code under test is among it.
_LIBRARIES = """
    alembic.command duckdb hypothesis jinja2 mlflow mlflow.models narwhals numpy pandas polars
    psycopg pyarrow pyarrow.parquet pydantic pytest requests rich scipy.optimize scipy.special
    scipy.stats sklearn.ensemble sqlalchemy sqlglot typer typer.testing yaml altair vl_convert
""".split()  # noqa: SIM905 (a column of names would be 28 lines)
_POLL_SECONDS = 0.02


class Trials:
    """A copy of a tree in which mutants are tried, one at a time.

    Parameters
    ----------
    tree : Path
        The copy. Its modules are changed and put back.
    """

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def failing(
        self, tests: list[str], *, file: str | None, text: bytes | None, seconds: float
    ) -> str | None:
        """The first test that fails with a module's text replaced; None if all pass.

        Parameters
        ----------
        tests : list of str
            In this order, until one fails.
        file : str, optional
            The module, from the root of the tree.
        text : bytes, optional
            What stands in it meanwhile.
        seconds : float
            What takes longer has failed: "out of time".
        """
        if file is None or text is None:
            return self._answer(tests, seconds)
        path = self.tree / file
        before = path.read_bytes()
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
        path.write_bytes(text)
        try:
            return self._answer(tests, seconds)
        finally:
            path.write_bytes(before)

    def _answer(self, tests: list[str], seconds: float) -> str | None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps([str(self.tree), tests, seconds]) + "\n")
        stdin.flush()
        found: str | None = json.loads(stdout.readline())
        return found


class _FirstFailure:
    """A plugin of pytest that remembers which test failed."""

    def __init__(self) -> None:
        self.name: str | None = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and self.name is None:
            self.name = report.nodeid


def _run(tree: str, tests: list[str], answer: int) -> None:
    import pytest

    os.chdir(tree)
    roots = [tree, str(Path(tree) / "plugins")]
    sys.path[:1] = roots  # in place of this script's folder
    os.environ["PYTHONPATH"] = os.pathsep.join(roots)  # for commands that tests start

    seen = _FirstFailure()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:anyio"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = pytest.main([*options, *tests], plugins=[seen])
    # Anything but 0 and 1 (not collected, interrupted) is the fault's doing too: a module that
    # cannot be imported any more, for example.
    name = seen.name or (None if status == 0 else f"pytest ended with {int(status)}")
    os.write(answer, json.dumps(name).encode())


def _forked(tree: str, tests: list[str], seconds: float) -> str | None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reading)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        try:
            _run(tree, tests, writing)
        finally:
            os._exit(0)
    os.close(writing)
    ends = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > ends:
            break
        time.sleep(_POLL_SECONDS)
    # Whatever it has started ends with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read() if time.monotonic() <= ends else b'"out of time"'
    found: str | None = json.loads(said or b'"the process of the tests ended"')
    return found


def _serve() -> None:
    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        tree, tests, seconds = json.loads(line)
        sys.stdout.write(json.dumps(_forked(tree, tests, seconds)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
