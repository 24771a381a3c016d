"""A real MariaDB server on this machine, for as long as the tests that ask for it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

__all__ = ["MariaDBServer", "missing_program"]

_SECONDS: Final = 60.0


def missing_program() -> str | None:
    """Which of the programs is not installed."""
    for program in ("mariadbd", "mariadb-install-db"):
        if shutil.which(program) is None:
            return program
    return None


class MariaDBServer:
    """Started in a folder of its own, reached by loopback alone."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pumonitor-mariadb-"))
        data = self._folder / "data"
        common = ["--no-defaults", f"--datadir={data}"]
        subprocess.run(
            ["mariadb-install-db", *common, "--auth-root-authentication-method=normal"],
            check=True,
            capture_output=True,
        )
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._log = (self._folder / "log").open("w")
        self._process = subprocess.Popen(
            [
                "mariadbd",
                *common,
                "--user=root",
                "--bind-address=127.0.0.1",
                f"--port={self.port}",
                f"--socket={self._folder / 's'}",
                f"--pid-file={self._folder / 'pid'}",
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-buffer-pool-size=64M",
                # Whoever sets no collation of their own compares without case.
                "--character-set-server=utf8mb4",
                "--collation-server=utf8mb4_general_ci",
                "--default-time-zone=-03:00",
            ],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )
        self._await()

    @property
    def address(self) -> str:
        """URL of an empty database."""
        return f"mariadb://root@127.0.0.1:{self.port}/test"

    def close(self) -> None:
        """Stop it at once: nothing there is to be kept."""
        self._process.kill()
        self._process.wait(20)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _await(self) -> None:
        import pymysql

        until = time.monotonic() + _SECONDS
        while True:
            try:
                connection = pymysql.connect(host="127.0.0.1", port=self.port, user="root")
            except pymysql.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.1)
            else:
                with connection.cursor() as cursor:
                    cursor.execute("CREATE DATABASE IF NOT EXISTS test")
                connection.close()
                return
