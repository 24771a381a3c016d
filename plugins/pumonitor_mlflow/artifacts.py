"""Files of an evaluation, written to a directory and described as MLflow's artifacts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mlflow.models.evaluation.artifacts import (
    CsvEvaluationArtifact,
    ImageEvaluationArtifact,
    JsonEvaluationArtifact,
    NumpyEvaluationArtifact,
    ParquetEvaluationArtifact,
    TextEvaluationArtifact,
)
from mlflow.models.evaluation.base import EvaluationArtifact

if TYPE_CHECKING:
    from pumonitor.results import Evaluation


class HTMLEvaluationArtifact(EvaluationArtifact):
    """A page. MLflow's text artifact would read and write it in the machine's own encoding."""

    def _save(self, output_artifact_path: str) -> None:
        Path(output_artifact_path).write_text(self._content, encoding="utf-8")

    def _load_content_from_file(self, local_artifact_path: str) -> str:
        content = Path(local_artifact_path).read_text(encoding="utf-8")
        self._content = content
        return content


ARTIFACT_OF_SUFFIX: dict[str, type[EvaluationArtifact]] = {
    ".csv": CsvEvaluationArtifact,
    ".html": HTMLEvaluationArtifact,
    ".jpeg": ImageEvaluationArtifact,
    ".jpg": ImageEvaluationArtifact,
    ".json": JsonEvaluationArtifact,
    ".npy": NumpyEvaluationArtifact,
    ".parquet": ParquetEvaluationArtifact,
    ".png": ImageEvaluationArtifact,
    ".txt": TextEvaluationArtifact,
}
"""What a file can be. Nothing here is read back by unpickling."""


def write_evaluation(evaluation: Evaluation, directory: Path) -> None:
    """Write ``evaluation.json``."""
    (directory / "evaluation.json").write_text(
        json.dumps(evaluation.to_dict(), allow_nan=False, indent=1), encoding="utf-8"
    )


def write_report(
    evaluation: Evaluation,
    directory: Path,
    *,
    context: Mapping[str, str],
    without_audit: Evaluation | None = None,
) -> None:
    """Write ``report.html`` and a PNG for each chart."""
    from pumonitor.report.charts import chart_names, chart_of, to_png
    from pumonitor.report.html import render_html

    page = render_html(evaluation, context=context, without_audit=without_audit)
    (directory / "report.html").write_text(page, encoding="utf-8")
    for name in chart_names(evaluation):
        (directory / f"{name}.png").write_bytes(to_png(chart_of(evaluation, name)))


def as_artifact(path: Path, *, uri: str) -> EvaluationArtifact:
    """The artifact at `uri`, its content read from the local file."""
    artifact = ARTIFACT_OF_SUFFIX[path.suffix](uri=uri)
    # With content, so that EvaluationResult.save works without the tracking server.
    artifact._load(str(path))  # type: ignore[no-untyped-call]  # MLflow's
    return artifact
