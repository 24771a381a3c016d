"""Schemathesis finds nothing: it asks a real server whatever the document allows, and does not.

It lies beside the environment, where `make test-api` puts it; elsewhere this test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.dashboard.shop_pages import TEXT

ROOT = Path(__file__).parents[3]
SCHEMATHESIS = ROOT / ".venv" / "schemathesis"
SECONDS = 40
SETTINGS = """\
[phases.stateful]
enabled = true
"""
# It shows a wrong token to each operation, 21 in a minute; 20 are allowed.
SERVER = """\
from pumonitor.cli.app import main
from pumonitor.monitor.dashboard import callers

callers._MOST_WRONG_TOKENS = 100
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not (SCHEMATHESIS / "schemathesis").is_dir(), reason="make test-api has it")
def test_schemathesis_finds_nothing(shop_state, tmp_path):
    shutil.copy(shop_state, tmp_path / "state.db")
    (tmp_path / "pumonitor.yaml").write_text("state: sqlite:///state.db\n" + TEXT)
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as ledger:
        token = ledger.tokens.create("schemathesis", "admin", by="test")[1]
    (tmp_path / "schemathesis.toml").write_text(SETTINGS)
    server = subprocess.Popen(
        [
            *(sys.executable, "-c", SERVER, "pages", "--address", "127.0.0.1:0"),
            *("--host-names", "127.0.0.1", "--plain-http"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        url = re.search(r"http://\S+", server.stdout.readline())[0]
        found = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {token}", "--checks", "all"),
                *("--max-time", str(SECONDS), "--seed", "1", "--no-color"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            env=os.environ | {"PYTHONPATH": str(SCHEMATHESIS)},
        )
        assert found.returncode == 0, found.stdout + found.stderr
    finally:
        server.terminate()
        server.wait(timeout=20)
        server.stdout.close()
