"""The shop with a registry of MLflow and a table of features."""

from pathlib import Path

from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.challenging.challenged_shop import SETTLED

TRACKED = {
    "models": '["models:/shop@challenger"]',
    "model": "model: models:/shop@champion\n    ",
    "tracking": "tracking: {uri: 'sqlite:///mlflow.db'}\n",
    "more": "features: {source: features.parquet, id: id, columns: [first, second, kind]}\n"
    "      entity: customer\n      gate: {better: aul}",
}


def evaluated(path: Path) -> None:
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.run()


def called(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == status, done.output + str(done.exception)
    return done.stdout
