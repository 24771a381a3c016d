"""Python in the documentation runs: the blocks of a page one after another, beside data."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.docs.documents import blocks

PYTHON = blocks("python")
_RUN_ELSEWHERE = ("README.md", "import mlflow")
"""The README's first example: tests/cli/test_demo_command.py compares what it prints."""

pytestmark = pytest.mark.filterwarnings("default")


def names() -> dict[str, Any]:
    """What pages say is there: labels and scores of 3,000 cards, and what goes with them."""
    rng = np.random.default_rng(5)
    truth = rng.random(3000) < 0.1
    scores = np.clip(rng.normal(0.35 + 0.3 * truth, 0.12), 0.001, 0.999)
    labels = (truth & (rng.random(3000) < 0.4)).astype(int)
    edges = np.linspace(0, 1, 101)
    return {
        "labels": labels,
        "scores": scores,
        "complaints": labels * (scores < 0.6),
        "verdicts": np.where(scores >= 0.6, truth, np.nan),
        "old": scores,
        "new": np.clip(scores + rng.normal(0, 0.02, 3000), 0.001, 0.999),
        "source": np.where(rng.random(3000) < 0.5, "customer", "analyst"),
        "propensity": np.where(scores > 0.5, 0.8, 0.2),
        "X": np.column_stack([scores + rng.normal(0, 0.1, 3000), rng.normal(size=3000)]),
        "customer": np.arange(3000) // 3,
        "amounts": np.exp(rng.normal(3, 1, 3000)),
        "labels_then": labels[:1500],
        "scores_then": scores[:1500],
        "edges": edges,
        "labeled": np.histogram(scores[labels == 1], edges)[0],
        "unlabeled": np.histogram(scores[labels == 0], edges)[0],
    }


def fill(folder: Path) -> None:
    """The files that pages name."""
    import pandas as pd

    there = names()
    frame = pd.DataFrame({"confirmed": there["labels"], "score": there["scores"]})
    frame.to_parquet(folder / "scored.parquet")


@pytest.mark.parametrize("page", sorted({one.document for one in PYTHON}))
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    fill(tmp_path)
    space = names()
    ran = 0
    for block in (one for one in PYTHON if one.document == page):
        if block.note or (page == _RUN_ELSEWHERE[0] and _RUN_ELSEWHERE[1] in block.text):
            ast.parse(block.text)
            continue
        ran += 1
        exec(compile("\n" * block.line + block.text, page, "exec"), space)  # noqa: S102
    assert ran + sum(1 for one in PYTHON if one.document == page and one.note) > 0
