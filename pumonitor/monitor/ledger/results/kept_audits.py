"""Which configurations of a monitor have audits that another one keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, select

from pumonitor.monitor.ledger.database.schema import monitors

_SAME: Final = (
    "positives",
    "maturity",
    "score_scale",
    "threshold",
    "label_purity",
    "scenario",
)
_SAME_OF_PREDICTIONS: Final = ("source", "id", "time", "score", "model_version")


def sharing_audits(connection: Connection, monitor: str, configuration: str) -> tuple[str, ...]:
    """The configuration, and those whose rows, scores, threshold and labels are the same.

    What an audit says stands on these. It does not on windows, panes, segments, features, the
    assumed class prior or the reference, so a change of them leaves the audits as they are.
    """
    own = monitors.c
    found = {
        row.configuration: row.meaning
        for row in connection.execute(
            select(own.configuration, own.meaning)
            .where(own.name == monitor)
            .order_by(own.configuration)
        )
    }
    if configuration not in found:
        return (configuration,)
    wanted = what_audits_stand_on(found[configuration])
    return tuple(one for one, meaning in found.items() if what_audits_stand_on(meaning) == wanted)


def what_audits_stand_on(meaning: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the meaning of a configuration that an audit keeps its sense with."""
    predictions = meaning.get("predictions") or {}
    return {
        "predictions": {name: predictions.get(name) for name in _SAME_OF_PREDICTIONS},
        **{name: meaning.get(name) for name in _SAME},
    }
