"""Addresses, and paths, which are relative to the configuration's folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from pumonitor.monitor.config.values.kinds import Part

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")
_FILE_DATABASES = ("sqlite", "duckdb")
_LAKE_OF_FILES = "delta://"
_COUNTS = "counts://"


def check_address(given: str) -> None:
    """Raise ValueError unless the address has a scheme."""
    if not _ADDRESS.match(given):
        msg = "must be an address such as https://host/path or postgresql+psycopg://user@host/name"
        raise ValueError(msg)


class Located(Part):
    """A mapping that names files, with paths relative to the configuration's folder."""

    _folder: Path = PrivateAttr(default=Path())

    def model_post_init(self, context: Any, /) -> None:
        """Store the folder, from the validation context."""
        self._folder = (context or {}).get("folder", Path())

    def absolute(self, address: str) -> str:
        """The address with the path of a file, or of a lake's folder, made absolute."""
        if address.lower().startswith(_COUNTS):
            return _COUNTS + self.absolute(address[len(_COUNTS) :])
        if address.lower().startswith(_LAKE_OF_FILES):
            # Most configurations have no lake, and sources take a while to load.
            from pumonitor.sources.lakes.addresses import absolute_lake_address

            return absolute_lake_address(address, self._folder)
        scheme, mark, path = address.partition(":///")
        if mark and scheme.partition("+")[0] in _FILE_DATABASES:
            if path in {"", ":memory:"} or path.startswith("file:"):
                return address
            return f"{scheme}:///{self._folder.absolute() / path}"
        if "://" in address or ":/" in address:
            return address
        return str(self._folder.absolute() / address)
