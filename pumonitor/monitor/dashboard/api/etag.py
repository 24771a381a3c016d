"""Strong ETags: what an answer is made from, in few bytes, without making it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pumonitor import __version__
from pumonitor.monitor.config.sections.monitor import Monitor


def etag_of(*parts: Any) -> str:
    """A strong ETag of an answer that is a function of these parts.

    Examples
    --------
    >>> etag_of("/api/v1/results", 7) == etag_of("/api/v1/results", 8)
    False
    """
    text = json.dumps([__version__, *parts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def configuration_sum(monitors: Mapping[str, Monitor]) -> str:
    """A digest of all that the configuration says about monitors; secrets are not in it."""
    text = json.dumps([[name, repr(one)] for name, one in monitors.items()])
    return hashlib.sha256(text.encode()).hexdigest()
