"""Stores and web servers whose files are read, and the variables that say how."""

from __future__ import annotations

from typing import Final

WEB: Final = ("http", "https")
TIMEOUT_SECONDS: Final = 30
"""That a server may be silent, each time."""
TRIES: Final = 4

KINDS: Final = {"s3": "s3", "gs": "gcs", "gcs": "gcs", "r2": "r2"}
"""What DuckDB calls the store of a scheme."""

# The names that the stores' own tools read; a secret stands nowhere else.
_AWS_KEYS: Final = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
}
KEYS: Final = {
    "s3": _AWS_KEYS,
    "r2": _AWS_KEYS,
    "gcs": {"KEY_ID": "GCS_ACCESS_KEY_ID", "SECRET": "GCS_SECRET_ACCESS_KEY"},
}
_AWS_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
ENDPOINTS: Final = {
    "s3": _AWS_ENDPOINTS,
    "r2": _AWS_ENDPOINTS,
    "gcs": ("STORAGE_EMULATOR_HOST",),
}


def credentials_of(scheme: str) -> str:
    """Where the credentials for addresses of a scheme are looked for, for messages."""
    kind = KINDS.get(scheme)
    if kind is None:
        return "the user and password in the address, or its signature, which may have expired"
    keys = KEYS[kind]
    both = f"{keys['KEY_ID']} and {keys['SECRET']}"
    if kind == "gcs":
        return f"{both} (HMAC keys; no others are read for {scheme}://)"
    return f"{both}, or the profile or role, and that they may list and read the bucket"
