"""A Spark Connect server of its own process, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pyspark

from benchmarks.monitoring.small_java import java_home

__all__ = ["SparkServer"]

_STARTED_WITHIN = 120.0
_SMALL = {
    "spark.master": "local[1]",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


class SparkServer:
    """Listens at one port of this machine, whenever it runs.

    Parameters
    ----------
    folder : Path
        Of its files and of what it prints.
    settings : mapping of str to str, optional
        In place of those that make it small and plain.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._folder = folder
        self._settings = dict(_SMALL if settings is None else settings)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What sources name."""
        return f"sc://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        settings = {
            **self._settings,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self._port),
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
        }
        home = Path(pyspark.__file__).parent
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(home / "bin" / "spark-submit"),
                    "--class",
                    "org.apache.spark.sql.connect.service.SparkConnectServer",
                    *(
                        word
                        for name, value in settings.items()
                        for word in ("--conf", f"{name}={value}")
                    ),
                    "spark-internal",
                ],
                cwd=self._folder,
                env={
                    **os.environ,
                    "JAVA_HOME": str(java_home(self._folder)),
                    "SPARK_HOME": str(home),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                },
                stdout=log,
                stderr=log,
                # Ends with all that it started, and with nothing of ours.
                start_new_session=True,
            )
        self._wait()

    def hold(self, tables: Mapping[str, Path]) -> None:
        """Have Parquet files as tables, which a server that was killed has forgotten."""
        from pyspark.sql import SparkSession

        session = SparkSession.builder.remote(self.url).create()
        try:
            for name, path in tables.items():
                session.sql(f"CREATE TABLE {name} USING parquet LOCATION '{path}'")
        finally:
            # A session that is left open waits for its server as the process ends.
            session.stop()

    def kill(self) -> None:
        """End it at once, as a lost machine does."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Have it answer nothing, and keep its connections, as one without memory does."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGSTOP)

    def _wait(self) -> None:
        until = time.monotonic() + _STARTED_WITHIN
        while time.monotonic() < until:
            if self._process is not None and self._process.poll() is not None:
                raise RuntimeError((self._folder / "server.log").read_text()[-2000:])
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.2)
        raise TimeoutError((self._folder / "server.log").read_text()[-2000:])
