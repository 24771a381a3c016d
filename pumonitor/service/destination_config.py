"""Where results and alerts go."""

from __future__ import annotations

from typing import Literal

from pydantic import SecretStr, model_validator

from pumonitor.service.addresses import Address, Located, check_address
from pumonitor.service.config_values import Part

__all__ = ["Destination", "Tracking"]


class Tracking(Located):
    """The MLflow server or store that results go to."""

    uri: Address

    @property
    def address(self) -> str:
        """For MLflow, with its password; a file's path absolute."""
        given = self.uri.get_secret_value()
        return given if given in {"databricks", "uc"} else self.absolute(given)


class Destination(Part):
    """Where alerts go: Apprise, a webhook or Alertmanager.

    Attributes
    ----------
    apprise : SecretStr or None
        An Apprise address: chat, mail, paging.
    webhook : SecretStr or None
        An https address that takes JSON.
    secret : SecretStr or None
        Signs what the webhook is sent.
    alertmanager : SecretStr or None
        Address of a Prometheus Alertmanager.
    """

    apprise: Address | None = None
    webhook: Address | None = None
    secret: Address | None = None
    alertmanager: Address | None = None

    @property
    def kind(self) -> Literal["apprise", "webhook", "alertmanager"]:
        """Which of them it is."""
        if self.apprise is not None:
            return "apprise"
        return "webhook" if self.webhook is not None else "alertmanager"

    @property
    def address(self) -> SecretStr:
        """Where it sends."""
        address: SecretStr = getattr(self, self.kind)
        return address

    @model_validator(mode="after")
    def _one_kind(self) -> Destination:
        kinds = [
            name
            for name in ("apprise", "webhook", "alertmanager")
            if getattr(self, name) is not None
        ]
        if len(kinds) != 1:
            got = " and ".join(kinds) or "none"
            msg = f"must have one of apprise, webhook and alertmanager, got {got}"
            raise ValueError(msg)
        if self.secret is not None and kinds != ["webhook"]:
            msg = f"has a secret, which goes with webhook and not with {kinds[0]}"
            raise ValueError(msg)
        address = self.address.get_secret_value()
        if kinds == ["apprise"]:
            check_address(self.address)
        elif not address.startswith(("https://", "http://")):
            msg = f"must have a {kinds[0]} that begins with https:// or http://"
            raise ValueError(msg)
        return self
