"""Score tables come back from the database bit for bit."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields, replace

import numpy as np
import pytest

from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes, table_to_bytes
from pumonitor.tables import ScoreTable


def rows(seed: int = 1, size: int = 400) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(size) < 0.1, 1, np.where(rng.random(size) < 0.1, -1, 0))
    return labels, rng.normal(labels, 1.0), rng


def plain() -> ScoreTable:
    labels, scores, _ = rows()
    return ScoreTable.from_arrays(labels, scores, thresholds=[0.5])


def of_floats() -> ScoreTable:
    labels, scores, _ = rows(2)
    return ScoreTable.from_arrays(labels, scores.astype(np.float32))


def weighted() -> ScoreTable:
    labels, scores, rng = rows(3)
    return ScoreTable.from_arrays(labels, scores, sample_weight=rng.uniform(0.5, 3, len(labels)))


def with_propensities() -> ScoreTable:
    labels, scores, rng = rows(4)
    return ScoreTable.from_arrays(
        labels, scores, propensity=rng.uniform(0.01, 1, len(labels)), min_propensity=0.05
    )


def with_different_propensities() -> ScoreTable:
    return with_propensities() + weighted()


def binned() -> ScoreTable:
    rng = np.random.default_rng(5)
    edges = np.linspace(-0.5, 1, 2049)
    return ScoreTable.from_counts(
        rng.poisson(0.3, 2048), rng.poisson(10.0**7, 2048), edges=edges, negative=np.ones(2048)
    )


def huge() -> ScoreTable:
    counts = [2.0**52 + 1, 2.0**53, 1e300, 3.0]
    return ScoreTable.from_counts([1, 1, 0, 5], counts, edges=[-0.0, 1.0, 2.0, 3.0, 4.0])


def without_positives() -> ScoreTable:
    table = plain()
    return replace(table, labeled=np.zeros(len(table)), n_labeled=0)


TABLES = [
    plain,
    of_floats,
    weighted,
    with_propensities,
    with_different_propensities,
    binned,
    huge,
    without_positives,
]


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.tobytes() == other.tobytes()
        )
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, item.name), getattr(other, item.name)) for item in fields(one)
        )
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("make", TABLES)
def test_a_table_comes_back_bit_for_bit(make: type[ScoreTable]) -> None:
    table = make()

    assert same(table, table_from_bytes(table_to_bytes(table)))


def test_equal_tables_have_equal_bytes() -> None:
    assert table_to_bytes(with_propensities()) == table_to_bytes(with_propensities())
    assert table_to_bytes(plain()) != table_to_bytes(weighted())


def test_what_comes_back_can_be_changed_by_its_owner() -> None:
    table = table_from_bytes(table_to_bytes(plain()))

    table.labeled[0] += 1
    assert (table + plain()).n_labeled == 2 * plain().n_labeled


def test_a_table_of_counts_takes_few_bytes() -> None:
    assert len(table_to_bytes(binned())) < 2048 * 16


@pytest.mark.parametrize("stored", [b"", b"\x80\x04K\x01.", b"PUT2" + zlib.compress(b"")])
def test_other_bytes_are_refused(stored: bytes) -> None:
    with pytest.raises(StateError, match="must begin with b'PUT1', found"):
        table_from_bytes(stored)


def changed(stored: bytes, **header: object) -> bytes:
    content = zlib.decompress(stored[4:])
    end = 4 + int.from_bytes(content[:4], "little")
    text = json.dumps(json.loads(content[4:end]) | header).encode()
    return b"PUT1" + zlib.compress(len(text).to_bytes(4, "little") + text + content[end:])


def test_damaged_bytes_are_refused() -> None:
    stored = table_to_bytes(huge())

    for damaged in (stored[:-3], stored[:20] + b"??" + stored[22:], b"PUT1"):
        with pytest.raises(StateError, match="a stored score table is damaged"):
            table_from_bytes(damaged)
    with pytest.raises(StateError, match="bytes are left over"):
        table_from_bytes(changed(stored, cells=3))
    with pytest.raises(StateError, match=r"column 'lower' is of type [|]O as [|]O"):
        table_from_bytes(changed(stored, columns=[["lower", "|O", "|O"]]))
    with pytest.raises(StateError, match="damaged: buffer is smaller"):
        table_from_bytes(changed(stored, columns=[["lower", "<f8", "<f8"]], cells=4000))
