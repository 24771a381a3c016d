"""A note that somebody wrote about a monitor."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from pumonitor.views.model import Moment, View


class NotedAlert(View):
    """The incident of an alert that a note is about."""

    rule_key: str
    model_version: str
    segment: str
    incident: int


class Note(View):
    """What somebody wrote about a monitor."""

    id: int = Field(default=0, description="0 until it is stored.")
    monitor: str
    at: Moment = Field(description="The moment it is about, or the beginning of its period.")
    ends: Moment | None = Field(default=None, description="End of its period; null for a moment.")
    alert: NotedAlert | None = None
    text: str
    author: str
    created_at: Moment | None = None
    withdrawn_at: Moment | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ends is not None and self.ends < self.at:
            msg = f"a note must be about a period that ends after it begins, got {self.at} to "
            raise ValueError(msg + str(self.ends))
        return self
