"""The section of a monitor's challengers: models beside the deployed one, and the gate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.config.values.kinds import Column, Columns, Number, Part, Text
from pumonitor.monitor.config.values.shares import InnerShare

GateMetric = Literal["recall", "aul"]

_REGISTERED: Final = re.compile(
    r"models:/(?P<model>[^/@]+)(?:/(?P<version>\d+)|@(?P<alias>[^/@]+))"
)
_MOST_MODELS: Final = 20


def _models(given: Any) -> Any:
    """A list of links becomes a mapping, by alias or by name and version."""
    if not isinstance(given, list):
        return given
    found: dict[str, Any] = {}
    for link in given:
        named = _REGISTERED.fullmatch(link) if isinstance(link, str) else None
        if named is None:
            msg = (
                "must be a list of models:/NAME/VERSION or models:/NAME@ALIAS, or a mapping of "
                "names to columns with their scores, such as {v7: score_v7}"
            )
            raise ValueError(msg)
        name = named["alias"] or f"{named['model']}-{named['version']}"
        if name in found:
            msg = f"has two models that would both be called {name}: give a mapping with names"
            raise ValueError(msg)
        found[name] = link
    return found


class Features(Part):
    """What a challenger is given, and where it is.

    Attributes
    ----------
    source : Source or None
        Files or a table of a lake with the features; without it they are columns of the
        predictions.
    id : str or None
        Column of the source with the id of the prediction; that of the predictions unless given.
    columns : tuple of str
        Columns that models are given, in this order. Without it, those that a model's signature
        names; training takes only what is named here.
    known_at : str or None
        Column of the source with the time when a row became known. Then a prediction is given the
        last row that was known when it was made, and an id may have several; without it a row is
        taken to be as it was at the prediction.
    """

    source: Source | None = None
    id: Column | None = None
    columns: Columns = ()
    known_at: Column | None = None

    @field_validator("source")
    @classmethod
    def _files(cls, source: Source | None) -> Source | None:
        if source is not None and (source.url is not None or source.name.startswith("counts://")):
            msg = (
                "must be files or a table of a lake; of a database name a view of the predictions "
                "that has the features, and leave out source"
            )
            raise ValueError(msg)
        return source

    @model_validator(mode="after")
    def _id_of_a_source(self) -> Features:
        for key, column in (("an id", self.id), ("known_at", self.known_at)):
            if column is not None and self.source is None:
                msg = f"has {key} without a source: features are then columns of the predictions"
                raise ValueError(msg)
        return self


class Gate(Part):
    """When a challenger is surely better.

    Attributes
    ----------
    better : "recall" or "aul"
        What has to be better: the share of positives among the rows of highest score, or the
        ranking of all rows.
    capacity : float
        Share of the rows that can be looked at: recall is that of the highest ones of each model.
    not_worse : mapping of "recall" or "aul" to float
        What must surely not be worse by more than this much.
    least_propensity : float or None
        With ``positives: propensity``, the least that any positive has: those are seen rarely, and
        before one is seen nothing else tells how much it will weigh.
    looks : "anytime"
        The gate is asked after every window, and its error is that of all times together.
    """

    better: GateMetric = "recall"
    capacity: InnerShare = 0.05
    not_worse: dict[GateMetric, Annotated[Number, Field(gt=0, lt=1)]] = Field(default_factory=dict)
    least_propensity: InnerShare | None = None
    looks: Literal["anytime"] = "anytime"


class Challengers(Part):
    """Models that score the same rows beside the deployed one.

    Attributes
    ----------
    models : mapping of str to str
        Of the registry, as a list of links or under names of your own; or columns of the
        predictions with their scores, such as {v7: score_v7}.
    features : Features or None
        What models of the registry are given; columns of the predictions unless given.
    entity : str or None
        Column of the predictions with the entity of a row (customer, device). The labels of one
        entity in a window count once, together, and training keeps them in one fold. Without it
        that of predictions.
    gate : Gate
        When one is surely better.
    output : str or int or None
        Which column of what models give is the score, by name or counted from 0, where they give
        several.
    promote : "by hand" or "automatic"
        `pumonitor promote` promotes a challenger that is surely better. "automatic", by which a
        round does, is off.
    """

    models: Annotated[
        dict[str, str],
        BeforeValidator(_models, json_schema_input_type=dict[str, str] | list[str]),
        Field(examples=[["models:/card-fraud@challenger"], {"v7": "score_v7"}]),
    ]
    features: Features | None = None
    entity: Column | None = None
    gate: Gate = Gate()
    output: Annotated[int, Field(ge=0)] | Text | None = None
    promote: Literal["by hand", "automatic"] = "by hand"

    @property
    def links(self) -> Mapping[str, str]:
        """Names to links of the registry."""
        return {name: one for name, one in self.models.items() if _REGISTERED.fullmatch(one)}

    @property
    def columns(self) -> Mapping[str, str]:
        """Names to columns of the predictions."""
        return {name: one for name, one in self.models.items() if name not in self.links}

    @field_validator("promote")
    @classmethod
    def _by_hand(cls, promote: str) -> str:
        if promote == "automatic":
            msg = (
                "is automatic, which is off: whether labels favour a model cannot be seen surely "
                "enough for nobody to look, and with reviews the answer rests on what is believed "
                "of complaints; leave it out, and promote by pumonitor promote"
            )
            raise ValueError(msg)
        return promote

    @field_validator("models")
    @classmethod
    def _some(cls, models: dict[str, str]) -> dict[str, str]:
        if not 1 <= len(models) <= _MOST_MODELS:
            msg = f"must have from 1 to {_MOST_MODELS} models, got {len(models)}"
            raise ValueError(msg)
        for name, one in models.items():
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", name):
                msg = f"has a name with other characters than A-Z, a-z, 0-9, _ . and -: {name!r}"
                raise ValueError(msg)
            if not one or (one.startswith("models:") and not _REGISTERED.fullmatch(one)):
                msg = (
                    f"has {name}: {one!r:.100}, which is neither models:/NAME/VERSION nor "
                    "models:/NAME@ALIAS nor the name of a column"
                )
                raise ValueError(msg)
        return models
