"""An auxiliary score that was asked for and could not be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.results import Finding


def auxiliary_left_out(settings: Mapping[str, Any]) -> list[Finding]:
    """What ``settings["auxiliary_left_out"]`` says, where it says anything.

    The class prior is then read from the scores that are evaluated, and too high where these rank
    worse than they could.
    """
    reason = settings.get("auxiliary_left_out")
    if reason is None:
        return []
    return [
        Finding(
            name="auxiliary_left_out",
            severity="warning",
            sentence=(
                "The class prior is estimated from the scores alone and not from the features: "
                f"{reason}."
            ),
        )
    ]
