"""Files too long for memory: counts by score bin, exact at the threshold, near exact elsewhere."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pumonitor import ScoreTable
from pumonitor.sources import read_score_table

THRESHOLD = 0.3


def observed_auc(table: ScoreTable) -> float:
    below = np.cumsum(table.unlabeled) - table.unlabeled
    wins = table.labeled * (below + 0.5 * table.unlabeled)
    return float(wins.sum() / (table.labeled.sum() * table.unlabeled.sum()))


def write(path, labels, scores):
    pa.parquet.write_table(pa.table({"y": labels, "s": scores}), path)


def sample(size: int = 60_000, seed: int = 5):
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < 0.08
    normal = rng.normal(1.7 * positive - 0.4)
    return (positive & (rng.random(size) < 0.4)).astype(np.int8), normal


SCALES = {
    "score": lambda z: (z - z.min()) / np.ptp(z),
    "crowded near 0": lambda z: 1 / (1 + np.exp(-4 * (z - 4))),
    "long tails": lambda z: np.sinh(2 * z),
    "few values": lambda z: np.round(z, 1),
    "saturated": lambda z: np.clip(0.5 + 0.3 * z, 0.0, 1.0),
}


@pytest.mark.parametrize("scale", SCALES)
def test_binned_agrees_with_exact_within_its_resolution(tmp_path, scale):
    labels, normal = sample()
    scores = SCALES[scale](normal)
    write(tmp_path / "a.parquet", labels, scores)
    options = {"labels": "y", "scores": "s", "threshold": THRESHOLD}
    exact = read_score_table(tmp_path / "a.parquet", **options)
    binned = read_score_table(tmp_path / "a.parquet", max_rows_exact=0, bins=4096, **options)
    assert exact.resolution == 0.0
    assert 0 <= binned.resolution < 3e-4
    assert len(binned) <= 4097
    error = abs(observed_auc(binned) - observed_auc(exact))
    assert error <= binned.resolution + 1e-12
    assert (binned.n_labeled, binned.n_unlabeled) == (exact.n_labeled, exact.n_unlabeled)
    above, above_binned = (
        table.labeled[table.index_of_threshold(THRESHOLD) :].sum() for table in (exact, binned)
    )
    assert above == above_binned == np.count_nonzero(labels[scores >= THRESHOLD])


def test_without_a_threshold_no_cell_begins_for_its_sake(tmp_path):
    labels, normal = sample()
    write(tmp_path / "a.parquet", labels, normal.astype(np.float32))
    options = {"labels": "y", "scores": "s", "max_rows_exact": 0, "bins": 64}
    plain = read_score_table(tmp_path / "a.parquet", **options)
    # Within a bin: the threshold cuts it in two.
    within = float(plain.lower[32] + plain.upper[32]) / 2
    cut = read_score_table(tmp_path / "a.parquet", **options, threshold=within)
    assert len(plain) <= 64
    assert len(cut) == len(plain) + 1
    exact = read_score_table(tmp_path / "a.parquet", labels="y", scores="s")
    in_memory = ScoreTable.from_arrays(labels, normal.astype(np.float32).astype(float))
    np.testing.assert_array_equal(exact.lower, in_memory.lower)
    np.testing.assert_array_equal(exact.unlabeled, in_memory.unlabeled)


def test_scores_of_exactly_0_and_1_keep_cells_of_their_own(tmp_path):
    labels, normal = sample()
    scores = np.clip(1 / (1 + np.exp(-6 * (normal - 2))), 0, 1)
    scores[scores < 1e-4] = 0.0
    scores[scores > 0.999] = 1.0
    write(tmp_path / "a.parquet", labels, scores)
    table = read_score_table(
        tmp_path / "a.parquet", labels="y", scores="s", threshold=0.5, max_rows_exact=0, bins=1024
    )
    assert table.upper[0] == 0.0
    assert table.lower[-1] == 1.0
    assert table.unlabeled[0] == np.count_nonzero((scores == 0) & (labels == 0))


def test_csv_and_parquet_give_the_same_bins(tmp_path):
    labels, normal = sample(size=5_000)
    write(tmp_path / "a.parquet", labels, normal)
    lines = [f"{y},{s!r}" for y, s in zip(labels.tolist(), normal.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("y,s\n" + "\n".join(lines) + "\n")
    options = {"labels": "y", "scores": "s", "threshold": 0.5, "max_rows_exact": 10, "bins": 512}
    csv = read_score_table(tmp_path / "a.csv", **options)
    parquet = read_score_table(tmp_path / "a.parquet", **options)
    np.testing.assert_array_equal(csv.lower, parquet.lower)
    np.testing.assert_array_equal(csv.unlabeled, parquet.unlabeled)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 4}, "bins must satisfy bins >= 16, got 4"),
        ({"threshold": float("nan")}, "threshold must be finite, got nan"),
    ],
)
def test_settings_out_of_range_are_refused(tmp_path, options, message):
    settings = {"labels": "y", "scores": "s", "threshold": 0.5} | options
    with pytest.raises(ValueError, match=message):
        read_score_table(tmp_path / "a.parquet", **settings)
