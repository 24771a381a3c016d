"""Workflow files, hooks, citation and make targets name what there is."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import pumonitor

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps():
    for path in WORKFLOWS:
        for name, job in read(path)["jobs"].items():
            for step in job["steps"]:
                yield f"{path.name} {name}", step


def test_there_are_workflows():
    assert [path.stem for path in WORKFLOWS] == ["ci", "nightly", "release"]


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_finds_nothing():
    done = subprocess.run(["actionlint"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


def test_actions_are_pinned_to_a_commit_with_its_version_beside_it():
    pinned = re.compile(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
    for path in WORKFLOWS:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
        assert lines
        assert [line for line in lines if not pinned.search(line)] == []


def test_a_workflow_may_do_nothing_but_read_and_a_job_says_what_else_it_may():
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        assert all(job["timeout-minutes"] for job in workflow["jobs"].values()), path.name
        if path.stem != "release":
            assert not any("permissions" in job for job in workflow["jobs"].values()), path.name


def test_benchmarks_import_nothing_of_tests():
    # Whether `tests` can be imported there depends on what others have installed under that name.
    imports = re.compile(r"^\s*(?:from|import) tests\b", re.MULTILINE)
    benchmarks = [path for path in (ROOT / "benchmarks").rglob("*.py") if path.is_file()]
    assert len(benchmarks) > 50
    assert [str(path) for path in benchmarks if imports.search(path.read_text("utf-8"))] == []


def test_no_step_keeps_the_token_that_checked_out():
    for where, step in steps():
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False, where


def test_every_target_that_a_workflow_makes_is_in_the_makefile_and_in_its_help():
    named = {
        name for _, step in steps() for name in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))
    }
    assert {"test", "check", "docs", "smoke", "data", "dist"} <= named
    assert named <= TARGETS
    told = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True)
    listed = set(re.findall(r"^  make ([\w-]+)", told.stdout, re.MULTILINE))
    assert listed == TARGETS - {"help"}
    recipes = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
    assert recipes >= TARGETS


def test_the_python_versions_of_the_metadata_are_the_tested_ones():
    versions = [
        line.rpartition(" ")[2]
        for line in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", line)
    ]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    jobs = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    for name in ("newest", "wheel"):
        assert jobs[name]["strategy"]["matrix"]["python"] == versions, name
    assert jobs["wheel"]["strategy"]["matrix"]["versions"] == ["lowest-direct", "highest"]


def test_the_citation_is_of_this_version():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == pumonitor.__version__
    assert citation["license"] == PROJECT["license"].partition(" AND ")[0]  # of the code itself
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_hooks_run_what_make_check_runs():
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    checks = "".join(re.findall(r"^(?:check|lint):.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE))
    for hook in repository["hooks"]:
        tool = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"$(BIN)/{tool} " in checks.replace("\n", " \n"), hook["id"]
    assert len(repository["hooks"]) == 5


def test_issue_forms_ask_for_something():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    asking = [read(path) for path in forms if path.stem != "config"]
    assert len(asking) == 3
    for form in asking:
        assert form["name"]
        assert form["description"]
        ids = [part["id"] for part in form["body"]]
        assert len(set(ids)) == len(ids)
        assert any(part.get("validations", {}).get("required") for part in form["body"])
