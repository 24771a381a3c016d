"""The quick start, typed as it stands, prints what it shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pumonitor.demo.emails import score_later_mails
from pumonitor.demo.flip import audited_before_flip, write_flip
from pumonitor.demo.weeks import write_monitor
from tests.docs.documents import blocks

_PAGE = "docs/quick-start.md"


def _block(language: str, having: str) -> str:
    (found,) = [
        one.text for one in blocks(language) if one.document == _PAGE and having in one.text
    ]
    return found


def _typed(commands: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=os.environ
        | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_it_ends_with_the_alert_it_shows(tmp_path: Path) -> None:
    mails = score_later_mails()
    kept = tmp_path / "pumonitor-demo"
    kept.mkdir()
    write_monitor(mails.frame, kept)
    write_flip(mails, kept, audited=audited_before_flip(mails))

    _typed(_block("sh", "pumonitor init"), tmp_path)
    file = tmp_path / "first" / "pumonitor.yaml"
    *lines, last = file.read_text(encoding="utf-8").splitlines()
    assert last.strip().startswith("reference:")
    # MLflow and its reports take most of the time, and change nothing of what is shown here.
    lines = [line for line in lines if not line.startswith("tracking:")]
    added = _block("yaml", "shift: down").splitlines()
    file.write_text("\n".join([*lines, *(f"    {line}" for line in added), ""]), encoding="utf-8")

    printed = _typed(_block("sh", "pumonitor backfill"), file.parent)
    shown = _block("text", "2012-03-05      6").splitlines()
    assert [line for line in shown if line.strip() and line.rstrip() not in printed] == []

    history = _typed(_block("sh", "alerts list --history"), file.parent)
    said = " ".join(_block("text", "incident 1").split())
    assert said in " ".join(history.split())
