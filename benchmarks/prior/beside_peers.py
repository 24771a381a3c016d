"""Ours beside installable peers: the same samples in the same run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.prior.peers import PEERS, PeerRun, measure, measure_elsewhere, missing
from benchmarks.prior.real import FOLDER, present, real_sample
from benchmarks.prior.real import PRIORS as REAL_PRIORS
from benchmarks.prior.runs import Sample, run, summary
from benchmarks.prior.synthetic import PRIORS, normal_sample
from benchmarks.prior.tables import FigureTable, watched
from benchmarks.prior.tasks import REPORTED

__all__ = ["beside_peers", "peer_tables"]


def peer_tables(
    *, seeds: int, python: Path | None = None, folder: Path = FOLDER, fresh: bool = False
) -> Iterator[FigureTable]:
    """On two normals, and on the real tasks by the scores of boosted trees."""
    normals = [normal_sample(prior, seed) for prior in PRIORS for seed in range(seeds)]
    yield beside_peers(normals, f"Peers on two normals, {seeds} seeds", python=python)
    if python is None and len(missing(_packages())) == len(_packages()):
        return
    cells = [
        (task, prior, seed)
        for task in present(REPORTED)
        for prior in REAL_PRIORS
        for seed in range(seeds)
    ]
    real = [
        real_sample(task, "boosted trees", prior, seed, folder=folder, fresh=fresh)
        for task, prior, seed in watched(cells, "real scores")
    ]
    if real:
        title = f"Peers on {len({task.name for task, *_ in cells})} real tasks, boosted trees"
        yield beside_peers(real, f"{title}, {seeds} seeds", python=python)


def beside_peers(
    samples: Sequence[Sample], title: str, *, python: Path | None = None
) -> FigureTable:
    """Error and time of each peer, and ratios of ours to it."""
    arrays = [(sample.labels, sample.scores) for sample in samples]
    theirs = measure(arrays) if python is None else measure_elsewhere(arrays, python)
    tried = {found.peer for found in theirs}
    absent = sorted({peer.package for name, peer in PEERS.items() if name not in tried})
    notes = [f"Not installed: {name} (pip install {name}, or --peers-python)" for name in absent]
    ours = {"auto", *(PEERS[name].same_as for name in tried)} - {""}
    our_rows = [run(name, sample) for sample in samples for name in sorted(ours)]
    by_method = summary(pd.DataFrame(our_rows)).to_dict("records")
    figures = {str(row["method"]): row for row in by_method}
    auto = figures["auto"]
    rows = [auto | {"method": "auto, with interval"}]
    if theirs:
        by_peer = summary(pd.DataFrame([_row(found, samples) for found in theirs]))
        for row in by_peer.to_dict("records"):
            name = PEERS[str(row["method"])].same_as
            same = figures.get(name)
            rows.append(
                row
                | {
                    "MAE ratio": _ratio(auto["MAE"], row["MAE"]),
                    "seconds ratio": _ratio(auto["seconds"], row["seconds"]),
                    "same paper": name or "-",
                    "that MAE": math.nan if same is None else same["MAE"],
                    "that seconds ratio": math.nan
                    if same is None
                    else _ratio(same["seconds"], row["seconds"]),
                }
            )
        notes += sorted({f"{found.peer}: {found.failure}" for found in theirs if found.failure})
        notes.append("Ratios are of auto, with its interval, to a peer without: below 1 is better.")
        notes.append("The last three columns are of our estimator by the same paper, value alone.")
    return FigureTable(title=title, frame=pd.DataFrame(rows), notes=tuple(notes))


def _packages() -> list[str]:
    return sorted({peer.package for peer in PEERS.values()})


def _row(found: PeerRun, samples: Sequence[Sample]) -> dict[str, object]:
    truth = samples[found.sample].unlabeled_prior
    return {
        "method": found.peer,
        "error": math.nan if found.value is None else found.value - truth,
        "seconds": found.seconds,
        "failure": found.failure,
    }


def _ratio(ours: float, theirs: float) -> float:
    return float(ours / theirs) if theirs > 0 else math.nan
