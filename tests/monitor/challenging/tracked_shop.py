"""The shop with a registry of MLflow and a table of features."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.challenging.challenged_shop import evaluated_shop

TRACKED = {
    "models": '["models:/shop@challenger"]',
    "model": "model: models:/shop@champion\n    ",
    "tracking": "tracking: {uri: 'sqlite:///mlflow.db'}\n",
    "more": "features: {source: features.parquet, id: id, columns: [first, second, kind]}\n"
    "      entity: customer\n      gate: {better: aul}",
}


def called(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == status, done.output + str(done.exception)
    return done.stdout


def deployed_shop(folder: Path, registry: Any, **more: str) -> tuple[Path, Any]:
    """The configuration of a shop whose windows are evaluated, and its deployed version."""
    path = evaluated_shop(folder, **TRACKED | more)
    registry.create_registered_model("shop")
    version = registry.create_model_version("shop", f"file://{folder}").version
    registry.set_registered_model_alias("shop", "champion", version)
    return path, version
