"""What gives a challenger its scores: a column of the predictions, or a version of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.monitor.delivery.mlflow.model_link import ModelLink, linked_version
from pumonitor.monitor.promotion.registry import RegistryError, asking_registry

if TYPE_CHECKING:
    from mlflow import MlflowClient


TRAINED_UNTIL_TAG: Final = "pumonitor.trained_until"
"""End of the training rows of a version, in ISO 8601 with its zone."""
TRAINING_ROWS_TAG: Final = "pumonitor.training_rows"
"""Hash of the training rows' ids."""
_FEW: Final = 3


class AlreadyDeployedError(InputError):
    """The challenger is the version that is deployed by now, as after a promotion."""


class NoVersionYetError(RegistryError):
    """The challenger is an alias that no version has yet, as before the first is trained."""


class NamedChallenger(Protocol):
    """What has to be known of a challenger to judge what it has scored.

    Attributes
    ----------
    name : str
        In the configuration.
    scored_by : str
        What identifies its scores: ``models:/card-fraud/8``, or ``column score_v7``.
    trained_until : datetime or None
        Rows of later windows alone are scored; None where it is not known, for columns.
    """

    @property
    def name(self) -> str:
        """In the configuration."""

    @property
    def scored_by(self) -> str:
        """What identifies its scores."""

    @property
    def trained_until(self) -> datetime | None:
        """End of its training rows."""


class Challenger(NamedChallenger, Protocol):
    """A model whose scores stand beside the champion's."""

    def columns(self) -> tuple[str, ...]:
        """What it is given."""

    def scores(self, features: Mapping[str, NDArray[Any]]) -> FloatArray:
        """Score rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChallenger:
    """Scores that stand in a column of the predictions."""

    name: str
    column: str

    @property
    def scored_by(self) -> str:
        """The column."""
        return f"column {self.column}"

    @property
    def trained_until(self) -> datetime | None:
        """Not known: whoever wrote the scores wrote them when the prediction was made."""
        return None

    def columns(self) -> tuple[str, ...]:
        """The column itself."""
        return (self.column,)

    def scores(self, features: Mapping[str, NDArray[Any]]) -> FloatArray:
        """The column itself."""
        scores = features[self.column]
        if scores.dtype == object:
            msg = f"column {self.column!r} of challenger {self.name} holds text, not scores"
            raise InputError(msg)
        missing = int((~np.isfinite(scores)).sum())
        if missing:
            msg = (
                f"column {self.column!r} of challenger {self.name} is missing or not finite in "
                f"{missing} of {len(scores)} rows: let the challenger score every row"
            )
            raise InputError(msg)
        return np.asarray(scores, dtype=np.float64)


class RegisteredChallenger:
    """A version of MLflow's registry, loaded when it is first needed.

    Parameters
    ----------
    name : str
    link : str
        ``models:/NAME/VERSION`` or ``models:/NAME@ALIAS``, which is resolved at once.
    client : MlflowClient
    tracking : Tracking
    given : tuple of str
        Columns that it is given; those of its signature where empty.
    output : str or int, optional
        Which column of what it gives is the score, where there are several.
    mask : callable, optional
        Hides secrets in errors.

    Raises
    ------
    NoVersionYetError
        If no version has the alias.
    RegistryError
        If there is no such version, or the registry cannot be reached.
    """

    def __init__(
        self,
        name: str,
        link: str,
        client: MlflowClient,
        *,
        tracking: Tracking,
        given: tuple[str, ...] = (),
        output: str | int | None = None,
        mask: Callable[[str], str] = str,
    ) -> None:
        ModelLink.parsed(link)
        with asking_registry(mask=mask):
            found = linked_version(client, link, model_version="")
        if found is None:
            msg = (
                f"challenger {name} is {link}, which the registry does not have: register it, or "
                "train one by pumonitor challenge MONITOR --train all"
            )
            is_alias = ModelLink.parsed(link).alias is not None
            raise NoVersionYetError(msg) if is_alias else RegistryError(msg)
        self.name = name
        self.model, self.version = str(found.name), str(found.version)
        self._client, self._tracking = client, tracking
        self._given, self._output, self._mask = given, output, mask
        self._loaded: Any = None
        tag = found.tags.get(TRAINED_UNTIL_TAG)
        # A version without the tag cannot have seen rows that came after it was registered.
        self.trained_until: datetime | None = (
            _moment(tag, self.scored_by)
            if tag is not None
            else datetime.fromtimestamp(found.creation_timestamp / 1000, UTC)
        )

    def is_version(self, model: str, version: str | int) -> bool:
        """Whether it is this version of the registry."""
        return (self.model, self.version) == (str(model), str(version))

    @property
    def scored_by(self) -> str:
        """The version."""
        return f"models:/{self.model}/{self.version}"

    def columns(self) -> tuple[str, ...]:
        """Columns of the configuration, or of the model's signature.

        Raises
        ------
        InputError
            If neither names any.
        """
        if self._given:
            return self._given
        schema = self._model.metadata.get_input_schema()
        names = () if schema is None or not schema.has_input_names() else schema.input_names()
        if not names:
            msg = (
                f"{self.scored_by} has no signature with named columns: log it with an input "
                "example, or name the columns under challengers: features: columns"
            )
            raise InputError(msg)
        return tuple(map(str, names))

    def scores(self, features: Mapping[str, NDArray[Any]]) -> FloatArray:
        """Score rows with the model.

        Raises
        ------
        InputError
            If it gives classes in place of scores, not one number a row, several columns of which
            none is named, or fails.
        """
        rows = _frame(self.columns(), features, self._model.metadata.get_input_schema())
        try:
            given = self._predict(rows)
        except Exception as error:  # noqa: BLE001 (whatever a model of somebody else raises)
            msg = f"{self.scored_by} cannot score these rows: {type(error).__name__}: {error}"
            raise InputError(msg[:500]) from None
        scores = self._one_column(given)
        if scores.shape != (len(rows),) or not np.issubdtype(scores.dtype, np.number):
            msg = (
                f"{self.scored_by} gives {scores.dtype} of shape {scores.shape} for {len(rows)} "
                "rows, not one score a row"
            )
            raise InputError(msg)
        scores = scores.astype(np.float64)
        if len(np.unique(scores)) < _FEW <= len(rows):
            msg = (
                f"{self.scored_by} gives classes, not scores: log it with "
                'pyfunc_predict_fn="predict_proba"'
            )
            raise InputError(msg)
        return scores

    def _one_column(self, given: Any) -> NDArray[Any]:
        """The score of what the model gives.

        Raises
        ------
        InputError
            If it gives several columns, and the configuration names none of them.
        """
        columns = np.asarray(given)
        if columns.ndim != 2:
            return columns
        if columns.shape[1] == 1:
            return np.asarray(columns[:, 0])
        known = list(map(str, getattr(given, "columns", range(columns.shape[1]))))
        chosen = known.index(str(self._output)) if str(self._output) in known else self._output
        if isinstance(chosen, int) and chosen < len(known):
            return np.asarray(columns[:, chosen])
        what = (
            "which one is its score is not said"
            if self._output is None
            else (f"challengers: output names {self._output!r}, which is none of them")
        )
        msg = (
            f"{self.scored_by} gives {len(known)} columns ({', '.join(known)}), and {what}: "
            f"name it under challengers, such as output: {known[-1]}, or log a model that gives "
            "one score a row"
        )
        raise InputError(msg[:500])

    @property
    def _model(self) -> Any:
        if self._loaded is None:
            import mlflow

            with asking_registry(mask=self._mask):
                uri = self._client.get_model_version_download_uri(self.model, self.version)
                place = mlflow.artifacts.download_artifacts(
                    artifact_uri=uri,
                    tracking_uri=self._tracking.address,
                    registry_uri=self._tracking.registry_address,
                )
            try:
                self._loaded = mlflow.pyfunc.load_model(place)
            except Exception as error:  # noqa: BLE001 (whatever a model of somebody else raises)
                msg = f"{self.scored_by} cannot be loaded: {type(error).__name__}: {error}"
                raise InputError(msg[:500]) from None
        return self._loaded

    def _predict(self, rows: Any) -> Any:
        """Scores where the flavour has them; a plain `predict` of scikit-learn gives classes."""
        own: Any = None
        if "sklearn" in self._model.metadata.flavors:
            own = self._model.get_raw_model()
        if hasattr(own, "predict_proba"):
            probabilities = np.asarray(own.predict_proba(rows))
            # Of two classes the greater one, as scikit-learn orders them.
            return (
                probabilities[:, -1]
                if probabilities.ndim == 2 and probabilities.shape[1] == 2
                else probabilities
            )
        if hasattr(own, "decision_function"):
            return own.decision_function(rows)
        return self._model.predict(rows)


def _moment(text: str, version: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        msg = f"tag {TRAINED_UNTIL_TAG} of {version} must be a time with its zone, got {text!r:.60}"
        raise InputError(msg)
    return found.astimezone(UTC)


def _frame(columns: tuple[str, ...], features: Mapping[str, NDArray[Any]], schema: Any) -> Any:
    """A frame with the types that a signature names; true and false come as text."""
    import pandas as pd

    types = {} if schema is None or not schema.has_input_names() else schema.input_types_dict()
    found = {}
    for name in columns:
        values = features[name]
        kind = getattr(types.get(name), "name", "")
        if values.dtype == object:
            if kind == "boolean":
                values = pd.Series(values).map({"true": True, "false": False}).to_numpy()
            elif kind in {"double", "float", "integer", "long"}:
                values = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(np.float64)
        if kind in {"integer", "long"} and np.isfinite(values).all():
            values = values.astype(np.int64 if kind == "long" else np.int32)
        elif kind == "float":
            values = values.astype(np.float32)
        elif kind == "boolean" and values.dtype != object:
            values = values.astype(bool)
        found[name] = values
    return pd.DataFrame(found)
