"""Decompress files of Unix `compress` (ending .Z), which Python's library does not read.

Codes of 9 bits, later of up to 16, least significant bit first, stand for byte strings; the table
of strings grows by one with every code. Whenever codes get one bit longer, and after the code that
empties the table, the writer fills the group of eight codes it was in.
"""

from __future__ import annotations

from typing import Final

from benchmarks.datasets.errors import DatasetWrongError

__all__ = ["MAGIC", "decompressed"]

MAGIC: Final = b"\x1f\x9d"
_CLEAR: Final = 256


def decompressed(data: bytes) -> bytes:
    """The content of a .Z file.

    Parameters
    ----------
    data : bytes
        The whole file.

    Raises
    ------
    DatasetWrongError
        If it is no such file, or is damaged.

    References
    ----------
    Welch, A technique for high-performance data compression, Computer 17(6), 1984.

    Examples
    --------
    >>> decompressed(bytes.fromhex("1f9d9061c48401"))
    b'aba'
    """
    if len(data) < 3 or data[:2] != MAGIC:
        raise DatasetWrongError("not a file of Unix compress: it does not begin with 1f 9d")
    widest, with_clear = data[2] & 0x1F, bool(data[2] & 0x80)
    if not 10 <= widest <= 16:
        raise DatasetWrongError(f"not a file of Unix compress: codes of {widest} bits")
    return _expanded(data, widest, with_clear=with_clear)


def _expanded(data: bytes, widest: int, *, with_clear: bool) -> bytes:
    fresh = [bytes([value]) for value in range(256)] + ([b""] if with_clear else [])
    strings, out = list(fresh), bytearray()
    previous = b""
    width, bit, group = 9, 24, 24
    while bit + width <= 8 * len(data):
        code = (int.from_bytes(data[bit // 8 : bit // 8 + 4], "little") >> bit % 8) & (
            (1 << width) - 1
        )
        bit += width
        if with_clear and code == _CLEAR:
            strings, previous = list(fresh), b""
            bit = group = _end_of_group(bit, group, width)
            width = 9
            continue
        if code < len(strings):
            string = strings[code]
        elif code == len(strings) and previous:
            string = previous + previous[:1]
        else:
            raise DatasetWrongError(f"damaged: code {code} at bit {bit - width} stands for nothing")
        out += string
        if previous and len(strings) < 1 << widest:
            strings.append(previous + string[:1])
        previous = string
        if len(strings) >= 1 << width and width < widest:
            bit = group = _end_of_group(bit, group, width)
            width += 1
    return bytes(out)


def _end_of_group(bit: int, group: int, width: int) -> int:
    """Where the group of eight codes ends that the last code was in."""
    return group + -(-(bit - group) // (8 * width)) * 8 * width
