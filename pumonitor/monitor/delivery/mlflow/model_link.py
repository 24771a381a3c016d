"""Link from a monitor to its registered model version, which is tagged with the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pumonitor.monitor.delivery.mlflow.failures import is_missing
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

STATUS_TAG = "pumonitor.status"

_LINK = re.compile(r"models:/(?P<name>[^/@]+)(?:@(?P<alias>[^/@]+)|/(?P<version>\d+))")
_LOGGED_MODEL = re.compile(r"models:/(m-[0-9a-f]+)/?")
_VERSION = re.compile(r"v?(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLink:
    """A model of the registry and its version, by number or by alias.

    Examples
    --------
    >>> ModelLink.parsed("models:/card-fraud@champion")
    ModelLink(name='card-fraud', alias='champion', version=None)
    """

    name: str
    alias: str | None
    version: str | None

    @classmethod
    def parsed(cls, link: str) -> ModelLink:
        """Read ``models:/name@alias`` or ``models:/name/3``.

        Raises
        ------
        MessageRefusedError
            If it is neither.
        """
        found = _LINK.fullmatch(link)
        if found is None:
            msg = f"model {link!r:.200} must be like models:/name@alias or models:/name/3"
            raise MessageRefusedError(msg)
        return cls(name=found["name"], alias=found["alias"], version=found["version"])


def linked_version(client: MlflowClient, link: str, *, model_version: str) -> ModelVersion | None:
    """Registered model version of a series; None without one.

    If predictions have a version, it is used, and the link gives the model only; if that version is
    not a number, the registered version is unknown. Predictions without versions are of the linked
    version.
    """
    from mlflow.exceptions import MlflowException

    model = ModelLink.parsed(link)
    number = model.version
    if model_version:
        named = _VERSION.fullmatch(model_version)
        if named is None:
            return None
        number = named[1]
    try:
        if number is not None:
            return client.get_model_version(model.name, number)
    except MlflowException as error:
        if is_missing(error):
            return None
        raise
    return version_at(client, model.name, str(model.alias))


def version_at(client: MlflowClient, model: str, alias: str) -> ModelVersion | None:
    """Version of a registered model that has an alias; None without the alias or the model."""
    from mlflow.exceptions import MlflowException

    try:
        return client.get_model_version_by_alias(model, alias)
    except MlflowException as error:
        # An alias that does not exist is an invalid parameter to MLflow.
        if is_missing(error) or error.error_code == "INVALID_PARAMETER_VALUE":
            return None
        raise


def logged_model_id(client: MlflowClient, version: ModelVersion) -> str | None:
    """The logged model behind a version, None where this tracking server does not hold it."""
    from mlflow.exceptions import MlflowException

    # An open-source registry keeps it in the source only.
    source = _LOGGED_MODEL.fullmatch(version.source or "")
    model_id = version.model_id or (source[1] if source else None)
    if model_id is None:
        return None
    try:
        return str(client.get_logged_model(model_id).model_id)
    except MlflowException as error:
        if is_missing(error):
            return None
        raise


def tag_verdict(client: MlflowClient, version: ModelVersion, verdict: str) -> None:
    """Tag the version with the verdict if it has changed: each tag that is set fires webhooks."""
    if version.tags.get(STATUS_TAG) != verdict:
        client.set_model_version_tag(version.name, version.version, STATUS_TAG, verdict)
        # For the next message, where the version is not read again.
        version.tags[STATUS_TAG] = verdict
