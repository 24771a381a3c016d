import subprocess
import sys

import mlflow


def test_mlflow_finds_the_evaluator() -> None:
    assert "pu" in mlflow.models.list_evaluators()


def test_importing_mlflow_loads_neither_statistics_nor_charts_of_ours() -> None:
    program = (
        "import sys, mlflow.models, mlflow.models.evaluation.evaluator_registry as registry\n"
        "assert registry._model_evaluation_registry.is_registered('pu')\n"
        "print(sorted(name for name in sys.modules if name.startswith('pumonitor')))"
    )
    seen = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert seen.stdout.strip() == "['pumonitor_mlflow', 'pumonitor_mlflow.evaluator']"
