"""Ids and signatures of webhooks, after the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from datetime import datetime
from typing import Final

_PREFIX: Final = "whsec_"
_SHORTEST_KEY: Final = 12


def message_id(destination: str, key: str) -> str:
    """Unique id of a message to a destination, the same each time it is sent.

    Examples
    --------
    >>> message_id("alerts:hook", "card-fraud/1/fired")
    'msg_35858d30222c524d86e29df05b1518da'
    """
    return f"msg_{hashlib.sha256(json.dumps([destination, key]).encode()).hexdigest()[:32]}"


def signature(key: bytes, identity: str, moment: datetime, body: bytes) -> str:
    """The value of ``webhook-signature``: HMAC-SHA256 over id, timestamp and body."""
    signed = f"{identity}.{int(moment.timestamp())}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def signing_key(secret: str) -> bytes:
    """Decode a secret into the bytes of the key.

    Raises
    ------
    ValueError
        If base64 does not follow ``whsec_``, or the key is short enough to be guessed.
    """
    if not secret.startswith(_PREFIX):
        key = secret.encode()
    else:
        try:
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            msg = f"must have base64 text after {_PREFIX}"
            raise ValueError(msg) from None
    if len(key) < _SHORTEST_KEY:
        msg = f"must have at least {_SHORTEST_KEY} bytes, so that it cannot be guessed"
        raise ValueError(msg)
    return key
