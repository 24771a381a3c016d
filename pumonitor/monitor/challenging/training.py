"""Train a challenger on the windows of a monitor, and register it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

import numpy as np

from pumonitor import __version__
from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.monitor.challenging.challengers import TRAINED_UNTIL_TAG, TRAINING_ROWS_TAG
from pumonitor.monitor.challenging.training_rows import TrainedOn, TrainingRows, training_rows
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.model_link import ModelLink
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import deployed_by
from pumonitor.monitor.promotion.registry import asking_registry
from pumonitor.monitor.views.challengers import TrainedView
from pumonitor.ports import PredictionSource
from pumonitor.text import moment_text

__all__ = ["register", "train", "train_and_register"]

_ALIAS: Final = "challenger"
_OWN_TYPES: Final = (
    "pumonitor.sklearn.challenger.ChallengerClassifier",
    "pumonitor.sklearn.gaussian_basis.GaussianBasis",
    "pumonitor.sklearn.pairwise.PUAULClassifier",
    "pumonitor.sklearn.scored.ScoredModel",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""What a stored challenger is made of beside what skops trusts anyway."""


def train(rows: TrainingRows) -> Any:
    """Learn from rows: a pipeline that takes a frame of the features."""
    model = untrained(rows)
    model.fit(rows.features, (rows.labels == 1).astype(int), model__sample_weight=rows.weights)
    return model


def untrained(rows: TrainingRows, *, seed: int = 0) -> Any:
    """The learner, for these columns.

    Text becomes numbers by the order of its values, and values that are new are missing ones.
    """
    # Needs the extra sklearn.
    from pandas.api.types import is_numeric_dtype
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OrdinalEncoder

    from pumonitor.sklearn import ChallengerClassifier

    text = [one for one, column in rows.features.items() if not is_numeric_dtype(column)]
    numbers = [name for name in rows.features.columns if name not in text]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    columns = ColumnTransformer([("numbers", "passthrough", numbers), ("text", encoder, text)])
    return Pipeline([("columns", columns), ("model", ChallengerClassifier(random_state=seed))])


def tracking_of(configuration: Configuration, monitor: Monitor) -> Tracking:
    """Where to register a model, which is settled before anything is trained.

    Raises
    ------
    InputError
        If the monitor has no registered model, or there is no tracking server.
    """
    deployed_by(monitor)
    if configuration.tracking is None:
        msg = f"to register a challenger of {monitor.name}, the configuration needs tracking: uri"
        raise InputError(msg)
    return configuration.tracking


def register(configuration: Configuration, monitor: Monitor, model: Any, rows: TrainingRows) -> str:
    """Register a trained model as a version of the monitor's model; returns the version.

    Tags of the version say what it was trained on, and the alias of the challenger, as the
    configuration names it, points to it.

    Raises
    ------
    InputError
        If the monitor has no registered model, or there is no tracking server.
    """
    tracking = tracking_of(configuration, monitor)
    from mlflow import MlflowClient

    name = deployed_by(monitor).model
    with asking_registry(mask=configuration.mask):
        client = MlflowClient(tracking_uri=tracking.address, registry_uri=tracking.registry_address)
        version = _logged(client, monitor, name, model, rows)
        tags = {
            TRAINED_UNTIL_TAG: rows.until.isoformat(),
            TRAINING_ROWS_TAG: rows.digest,
            "pumonitor.trained_from": rows.first.isoformat(),
            "pumonitor.trained_on_labels": str(int((rows.labels == 1).sum())),
        }
        for tag, value in tags.items():
            client.set_model_version_tag(name, version, tag, value)
        client.set_registered_model_alias(name, _alias(monitor), version)
    return version


def train_and_register(
    configuration: Configuration,
    monitor: Monitor,
    ledger: Ledger,
    trained_on: TrainedOn,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    hold_out: int = 0,
    on_step: Callable[[str], None] = lambda what: None,
) -> TrainedView:
    """Read, learn, score held-out rows and register: what `pumonitor challenge --train` does.

    Raises
    ------
    InputError
        As `training_rows` and `register`.
    ExtraMissingError
        If scikit-learn is not installed.
    """
    tracking_of(configuration, monitor)
    rows = training_rows(
        ledger,
        monitor,
        trained_on,
        open_source=open_source,
        hold_out=hold_out,
        on_window=lambda start: on_step(f"Reading {moment_text(start)}"),
    )
    on_step("Training")
    model = train(rows)
    on_step("Scoring rows by models that did not see them")
    held_out_aul = _held_out_aul(rows)
    on_step("Registering")
    version = register(configuration, monitor, model, rows)
    return TrainedView(
        link=f"models:/{deployed_by(monitor).model}/{version}",
        rows=len(rows.labels),
        labels=int((rows.labels == 1).sum()),
        windows=rows.windows,
        first=rows.first,
        until=rows.until,
        is_configured=bool(_configured_aliases(monitor)),
        held_out_aul=held_out_aul,
    )


def _held_out_aul(rows: TrainingRows) -> float | None:
    """By models of the other entities."""
    from pumonitor.gate.paired_labels import shares_below
    from pumonitor.sklearn import cross_fit

    try:
        found = cross_fit(untrained(rows), rows.features, rows.labels, groups=rows.entity)
    except (InputError, TooFewPositivesError):
        return None
    scores, labels = found.scores, rows.labels[found.rows]
    return float(shares_below(scores, scores[labels == 1]).mean())


def _logged(
    client: Any,
    monitor: Monitor,
    name: str,
    model: Any,
    rows: TrainingRows,
) -> str:
    """Log the model to a run of the monitor's experiment, and make a version of it."""
    import mlflow.sklearn
    from mlflow.exceptions import MlflowException
    from mlflow.models import infer_signature

    from pumonitor.monitor.delivery.mlflow.runs import experiment_id
    from pumonitor.sklearn.scored import ScoredModel

    some = rows.features.head(1000)
    signature = infer_signature(some, model.decision_function(some))
    run = client.create_run(
        experiment_id(client, monitor.name), run_name=f"challenger of {monitor.name}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        mlflow.sklearn.save_model(
            ScoredModel(model),
            str(path),
            signature=signature,
            # Not a pickle, which could run anything where it is loaded.
            serialization_format="skops",
            skops_trusted_types=list(_OWN_TYPES),
            # Otherwise MLflow looks for them in another process, which takes half a minute.
            pip_requirements=[f"pumonitor[sklearn]=={__version__}"],
        )
        client.log_artifacts(run.info.run_id, str(path), "model")
    # MLflow says where the run is, and standard output is for what was asked.
    with redirect_stdout(sys.stderr):
        client.set_terminated(run.info.run_id)
    try:
        client.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    source = f"{client.get_run(run.info.run_id).info.artifact_uri}/model"
    return str(client.create_model_version(name, source, run_id=run.info.run_id).version)


def _alias(monitor: Monitor) -> str:
    """What is to point to a new challenger."""
    return next(iter(_configured_aliases(monitor)), _ALIAS)


def _configured_aliases(monitor: Monitor) -> list[str]:
    """Aliases of the monitor's model that its configuration names as challengers."""
    links = monitor.challengers.links.values() if monitor.challengers is not None else ()
    return [
        one.alias
        for one in map(ModelLink.parsed, links)
        if one.name == deployed_by(monitor).model and one.alias is not None
    ]
