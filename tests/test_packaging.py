"""What people install: the wheel's contents, the entry points, imports that stay light."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"altair", "duckdb", "mlflow", "pandas", "pyarrow", "scipy", "sklearn", "vl_convert"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(
        [sys.executable, *build], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel into a folder: what an installer does with a wheel of plain Python."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_installed(code: str, *, site: Path) -> str:
    """Run `code` in a fresh interpreter that finds the unpacked wheel before anything else."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": str(site)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dist_info(site: Path) -> Path:
    (folder,) = site.glob("*.dist-info")
    return folder


def test_the_wheel_holds_exactly_the_two_packages(site: Path) -> None:
    names = {path.name for path in site.iterdir()}

    assert names - {dist_info(site).name} == {"pumonitor", "pumonitor_mlflow"}


def test_every_file_of_the_packages_is_in_the_wheel(site: Path) -> None:
    for package in (ROOT / "pumonitor", ROOT / "plugins" / "pumonitor_mlflow"):
        in_tree = {
            path.relative_to(package.parent)
            for path in package.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        in_wheel = {
            path.relative_to(site) for path in (site / package.name).rglob("*") if path.is_file()
        }
        assert in_wheel == in_tree
        assert Path(package.name, "py.typed") in in_wheel


def test_the_wheel_carries_licence_and_version(site: Path) -> None:
    metadata = Parser().parsestr((dist_info(site) / "METADATA").read_text(encoding="utf-8"))

    assert metadata["License-Expression"] == "Apache-2.0"
    licenses = {path.name for path in (dist_info(site) / "licenses").rglob("*") if path.is_file()}
    assert licenses == {"LICENSE"}
    version = run_installed("import pumonitor; print(pumonitor.__version__)", site=site).strip()
    assert metadata["Version"] == version


def test_the_wheel_registers_the_evaluator_and_the_command(site: Path) -> None:
    lines = (dist_info(site) / "entry_points.txt").read_text(encoding="utf-8").split("\n")

    evaluators = lines[lines.index("[mlflow.model_evaluator]") + 1]
    commands = lines[lines.index("[console_scripts]") + 1]
    assert evaluators == "pu = pumonitor_mlflow.evaluator:PUEvaluator"
    assert commands == "pumonitor = pumonitor.cli.app:main"


def test_mlflow_finds_the_evaluator_and_loads_nothing_heavy_for_it(site: Path) -> None:
    code = """
import json, sys
import mlflow.models
evaluators = mlflow.models.list_evaluators()
ours = sorted(name for name in sys.modules if name.startswith("pumonitor"))
from importlib.util import find_spec
print(json.dumps({
    "evaluators": evaluators,
    "ours": ours,
    "home": sys.modules["pumonitor_mlflow.evaluator"].__file__,
    "plugins": find_spec("plugins") is not None,
    "loaded": sorted(sys.modules),
}))
"""
    found = json.loads(run_installed(code, site=site).splitlines()[-1])

    assert "pu" in found["evaluators"]
    assert Path(found["home"]).is_relative_to(site)
    assert not found["plugins"]
    assert not {"altair", "duckdb", "typer", "vl_convert"} & set(found["loaded"])
    assert found["ours"] == ["pumonitor_mlflow", "pumonitor_mlflow.evaluator"]


def test_importing_pumonitor_loads_nothing_heavy(site: Path) -> None:
    code = "import pumonitor, json, sys; print(json.dumps(sorted(sys.modules)))"

    assert not HEAVY & set(json.loads(run_installed(code, site=site)))


def test_evaluations_load_of_scipy_only_what_is_quick_to_load(site: Path) -> None:
    code = "import pumonitor.evaluation, json, sys; print(json.dumps(sorted(sys.modules)))"

    loaded = set(json.loads(run_installed(code, site=site)))
    assert "scipy.special" in loaded
    assert not {"scipy.stats", "scipy.optimize", "scipy.ndimage", "pandas"} & loaded


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["demo", "--help"]])
def test_asking_for_help_loads_nothing_heavy(arguments: list[str], site: Path) -> None:
    code = f"""
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules))))
sys.argv = ["pumonitor", *{arguments!r}]
from pumonitor.cli.app import main
main()
"""
    *shown, modules = run_installed(code, site=site).splitlines()

    assert "Usage" in "\n".join(shown)
    assert not HEAVY & set(json.loads(modules))


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))


def test_the_lock_satisfies_every_requirement_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    pins = locked()
    for line in [*project["dependencies"], *extras["demo"], *extras["dev"]]:
        requirement = Requirement(line)
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{requirement.name} is missing from the lock: run make lock"
        assert requirement.specifier.contains(pin), f"{line} but {pin} is locked: run make lock"


def test_the_lock_is_hashed_and_names_no_index_and_no_machine() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", text)[1:]

    assert len(entries) == len(locked())
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"--(?!hash=)\S+|\S+://\S*|\s@\s.*", text) == []
    assert re.findall(r"\s/\S+", text) == []
