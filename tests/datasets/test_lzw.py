"""Unix compress: against files the program itself made, and a naive encoder held to them."""

import hashlib

import numpy as np
import pytest

from benchmarks.datasets.errors import DatasetWrongError
from benchmarks.datasets.lzw import decompressed

NUMBERS = " ".join(map(str, range(30_000))).encode()


def naively_compressed(data, *, widest=16, clear_at=()):
    """Strings in a dictionary, bits in a text; `clear_at` empties the dictionary there."""
    bits, group, width = [], 0, 9
    known = {bytes([value]): value for value in range(256)}
    size, string = 257, b""

    def put(code):
        nonlocal group
        bits.append(format(code, f"0{width}b")[::-1])
        group = (group + 1) % 8

    def fill():
        nonlocal group
        while group:
            put(0)

    for place, value in enumerate(data):
        longer = string + bytes([value])
        if longer in known and place not in clear_at:
            string = longer
            continue
        put(known[string])
        if size < 1 << widest:
            known[longer] = size
            size += 1
        if place in clear_at:
            put(256)
            fill()
            known = {bytes([one]): one for one in range(256)}
            size, width = 257, 9
        # The reader has one string fewer than the writer when it reads the next code.
        elif size - 1 >= 1 << width and width < widest:
            fill()
            width += 1
        string = bytes([value])
    if string:
        put(known[string])
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    packed = bytes(int(text[at : at + 8][::-1], 2) for at in range(0, len(text), 8))
    return bytes([0x1F, 0x9D, 0x80 | widest]) + packed


@pytest.mark.parametrize(
    ("packed", "content"),
    [("1f9d90", b""), ("1f9d906100", b"a"), ("1f9d9061c48401", b"aba")],
)
def test_what_the_program_compress_made(packed, content):
    assert decompressed(bytes.fromhex(packed)) == content


def test_codes_that_grow_to_sixteen_bits():
    packed = naively_compressed(NUMBERS)
    # SHA-256 of what ncompress 4.2.4.6 makes of the same numbers.
    made_by_compress = "b33f525250ab435cf4172f5a14bfcc85b488deb0c50a476c856ef5476a2be105"
    assert hashlib.sha256(packed).hexdigest() == made_by_compress
    assert decompressed(packed) == NUMBERS


@pytest.mark.parametrize("widest", [10, 12, 13])
def test_a_table_that_is_full(widest):
    assert decompressed(naively_compressed(NUMBERS, widest=widest)) == NUMBERS


def test_a_table_that_is_emptied_on_the_way():
    noise = np.random.default_rng(1).bytes(3000)
    content = NUMBERS[:40_000] + noise + b"a" * 500
    packed = naively_compressed(content, clear_at=(5, 20_000, 41_000))
    assert decompressed(packed) == content


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"PK\x03\x04", "does not begin with 1f 9d"),
        (b"\x1f", "does not begin with 1f 9d"),
        (b"\x1f\x9d\x88", "codes of 8 bits"),
        (bytes.fromhex("1f9d9061fe03"), "damaged: code 511 at bit 33 stands for nothing"),
    ],
)
def test_what_is_no_such_file_is_refused(data, told):
    with pytest.raises(DatasetWrongError, match=told):
        decompressed(data)
