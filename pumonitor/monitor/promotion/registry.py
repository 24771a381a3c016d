"""Aliases and tags of MLflow's model registry, with time limits and errors in our words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from pumonitor.errors import PumonitorError
from pumonitor.monitor.delivery.mlflow.failures import is_missing, meaning
from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.model_link import version_at

if TYPE_CHECKING:
    from mlflow import MlflowClient


class RegistryError(PumonitorError):
    """The model registry did not answer, or refused what was asked of it."""


@contextmanager
def asking_registry(
    limits: Limits | None = None, *, mask: Callable[[str], str] = str
) -> Iterator[None]:
    """Context for requests to the registry: time limits, and errors without secrets.

    Raises
    ------
    RegistryError
        If it does not answer or refuses.
    """
    with (limits or Limits()).applied():
        try:
            yield
        except Exception as error:
            failure = meaning(error, takes_writes=lambda: False)
            if failure is None:
                raise
            msg = mask(f"the model registry cannot be used: {failure}")
            # Without its causes, whose texts may hold credentials.
            raise RegistryError(msg) from None


class Registry:
    """Aliases and tags of registered model versions.

    Parameters
    ----------
    address : str
        Registry URI, as MLflow takes it; the process's own is not touched.
    limits : Limits, optional
        Of one request.
    mask : callable, optional
        Hides secrets in text.

    Examples
    --------
    >>> registry = Registry("http://localhost:5000")
    >>> registry.version_at("card-fraud", "champion")  # doctest: +SKIP
    '3'
    """

    def __init__(
        self, address: str, *, limits: Limits | None = None, mask: Callable[[str], str] = str
    ) -> None:
        self._address = address
        self._limits = limits or Limits()
        self._mask = mask

    def version_at(self, model: str, alias: str) -> str | None:
        """Version that an alias points to; None if there is no such alias, or no such model.

        Raises
        ------
        RegistryError
            As all methods do if the registry does not answer or refuses.
        """
        with self._asking():
            found = version_at(self._client, model, alias)
        return None if found is None else str(found.version)

    def tags(self, model: str, version: str) -> dict[str, str] | None:
        """Tags of a version; None if there is no such version."""
        from mlflow.exceptions import MlflowException

        with self._asking():
            try:
                return dict(self._client.get_model_version(model, version).tags)
            except MlflowException as error:
                if is_missing(error):
                    return None
                raise

    def tag(self, model: str, version: str, tags: Mapping[str, str]) -> None:
        """Set tags of a version."""
        for name, value in tags.items():
            with self._asking():
                self._client.set_model_version_tag(model, version, name, value)

    def untag(self, model: str, version: str, *names: str) -> None:
        """Delete tags that a version has."""
        for name in names:
            with self._asking():
                self._client.delete_model_version_tag(model, version, name)

    def move(self, model: str, alias: str, version: str) -> None:
        """Make an alias point to a version, whatever it points to now."""
        with self._asking():
            self._client.set_registered_model_alias(model, alias, version)

    @cached_property
    def _client(self) -> MlflowClient:
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=self._address, registry_uri=self._address)

    def _asking(self) -> AbstractContextManager[None]:
        return asking_registry(self._limits, mask=self._mask)
