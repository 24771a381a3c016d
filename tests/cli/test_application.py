"""The application itself: help, version, start-up, and the end of errors nobody foresaw."""

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app

HEAVY = (
    "altair",
    "duckdb",
    "mlflow",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "yaml",
)


def test_help_names_every_command_and_the_exit_statuses():
    result = CliRunner(env={"COLUMNS": "120", "TERM": "dumb"}).invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "evaluate" in result.stdout
    assert "estimate-prior" in result.stdout
    assert "demo" in result.stdout
    said = " ".join(result.stdout.split())
    assert "0 success; 1 an alert fires (--fail-on-alert), or a challenger is not better" in said
    assert "2 wrong usage, or the configuration" in said
    assert "3 another failure" in said


@pytest.mark.parametrize(
    "command", ["evaluate", "compare", "estimate-prior", "demo", "init", "check"]
)
def test_every_option_has_a_sentence(command):
    result = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"}).invoke(app, [command, "--help"])
    assert result.exit_code == 0
    options = re.findall(r"^\W*(--[a-z-]+)\s+(.*)$", result.stdout, flags=re.MULTILINE)
    assert options
    for name, rest in options:
        assert re.search(r"[A-Za-z]{3,} [a-z]+", rest), f"{name} says nothing of itself"


def test_version_is_printed():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"pumonitor {pumonitor.__version__}\n"


def test_an_unknown_command_ends_with_status_2():
    assert CliRunner().invoke(app, ["evaluat"]).exit_code == 2


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from pumonitor.cli.app import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_an_unforeseen_error_ends_with_status_3_and_its_traceback():
    code = (
        "import sys, pumonitor.cli.app as application\n"
        "sys.argv = ['pumonitor', 'fail']\n"
        "@application.app.command()\n"
        "def fail() -> None:\n"
        "    raise RuntimeError('nobody foresaw this')\n"
        "application.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert "nobody foresaw this" in done.stderr
