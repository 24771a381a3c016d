"""A filter's state as bytes: numbers rounded to what is stored, so that nothing is lost."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray

_MANTISSA: Final = 23
_LEVEL: Final = 1


def rounded(values: ArrayLike, bits: int) -> FloatArray:
    """To so many binary digits after the first, within the range of float32.

    Examples
    --------
    >>> rounded([0.3, -5.0, 100.0], 3).tolist()
    [0.3125, -5.0, 104.0]
    """
    dropped = _MANTISSA - bits
    # A float's bits, read as a whole number, rise with its size: half a unit up, then cut.
    whole = np.array(values, dtype="<f4").view("<i4")
    whole = (whole + (1 << dropped >> 1)) >> dropped << dropped
    return whole.view("<f4").astype(np.float64)


def packed(
    magic: bytes,
    facts: Mapping[str, Any],
    grids: Mapping[str, tuple[FloatArray, int]],
) -> bytes:
    """Facts as JSON, then grids that are `rounded` to so many bits already.

    Parameters
    ----------
    magic : bytes of length 4
        Kind and version.
    facts : mapping
        What JSON can hold; floats come back bit for bit.
    grids : mapping of str to (ndarray, int)
        What is smooth along the last axis takes least.
    """
    shapes = [[name, list(values.shape), bits] for name, (values, bits) in grids.items()]
    header = json.dumps([facts, shapes], separators=(",", ":"), allow_nan=False).encode()
    body = [_steps(values, bits) for values, bits in grids.values()]
    whole = np.concatenate([np.zeros(0, dtype="<i4"), *body])
    # Bytes of equal rank together: the higher ones are nearly all zero.
    planes = whole.view(np.uint8).reshape(-1, 4).T.tobytes()
    return magic + zlib.compress(len(header).to_bytes(4, "little") + header + planes, _LEVEL)


def unpacked(magic: bytes, stored: bytes) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Facts and grids that `packed` stored.

    Raises
    ------
    ValueError
        If it stored nothing of the kind.
    """
    if stored[:4] != magic:
        msg = f"a stored state must begin with {magic!r}, found {bytes(stored[:4])!r}"
        raise ValueError(msg)
    try:
        content = zlib.decompress(stored[4:])
        begin = 4 + int.from_bytes(content[:4], "little")
        facts, shapes = json.loads(content[4:begin])
        planes = np.frombuffer(content, np.uint8, offset=begin).reshape(4, -1)
        whole = np.ascontiguousarray(planes.T).view("<i4").ravel()
        grids, at = {}, 0
        for name, shape, bits in shapes:
            size = int(np.prod(shape))
            grids[name] = _values(whole[at : at + size].reshape(shape), bits)
            at += size
        if at != len(whole):
            msg = f"{len(whole) - at} numbers are left over"
            raise ValueError(msg)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        msg = f"a stored state is damaged: {error}"
        raise ValueError(msg) from None
    return facts, grids


def _steps(values: FloatArray, bits: int) -> NDArray[np.int32]:
    """Differences between neighbours, in units of the last digit kept; signs in the last bit."""
    whole = values.astype("<f4").view("<i4") >> (_MANTISSA - bits)
    steps = np.diff(whole, axis=-1, prepend=np.int32(0))
    return np.asarray((steps << 1) ^ (steps >> 31), dtype="<i4").ravel()


def _values(steps: NDArray[np.int32], bits: int) -> FloatArray:
    signed = (steps >> 1) ^ -(steps & 1)
    whole = np.cumsum(signed, axis=-1, dtype=np.int32) << (_MANTISSA - bits)
    return whole.astype("<i4").view("<f4").astype(np.float64)
