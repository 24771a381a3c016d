"""Every file of deploy/ is taken by the tool that reads it, and that tool sees a mistake."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(path.name for path in (DEPLOY / "systemd").iterdir())
MANIFESTS = sorted(path.name for path in (DEPLOY / "kubernetes").iterdir())


def needs(tool, package):
    """Where the tool is; without it the test is skipped with the way to get it."""
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    found = shutil.which(tool, path=path)
    if found is None:
        pytest.skip(f"needs {tool} ({package})")
    return found


def told(*command, env=None):
    """Exit status of a command, and all that it prints."""
    done = subprocess.run(
        [str(word) for word in command],
        check=False,
        capture_output=True,
        text=True,
        env=None if env is None else os.environ | env,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def with_mistake(path, right, wrong):
    text = path.read_text(encoding="utf-8")
    assert text.count(right) >= 1, right
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")


@pytest.fixture
def deploy(tmp_path):
    """A copy in which mistakes can be planted."""
    return Path(shutil.copytree(DEPLOY, tmp_path / "deploy"))


class TestContainerfile:
    def lint(self, deploy):
        tool = needs("hadolint", "make deploy-check")
        return told(tool, "--no-color", deploy / "container" / "Containerfile")

    def test_hadolint_finds_nothing(self, deploy):
        assert self.lint(deploy) == (0, "")

    def test_a_base_without_a_version_is_found(self, deploy):
        file = deploy / "container" / "Containerfile"
        with_mistake(file, "FROM ${BASE} AS build", "FROM docker.io/library/python AS build")
        status, said = self.lint(deploy)
        assert (status, "DL3006" in said) == (1, True)

    def test_shellcheck_sees_the_commands(self, deploy):
        file = deploy / "container" / "Containerfile"
        with_mistake(file, "RUN useradd --uid 10001", "RUN cd $HOME; useradd --uid 10001")
        status, said = self.lint(deploy)
        assert (status, "SC2086" in said or "DL3003" in said) == (1, True)


class TestCompose:
    def config(self, deploy):
        tool = needs("docker-compose", "Debian: apt install docker-compose")
        return told(tool, "--file", deploy / "compose" / "compose.yaml", "config", "--quiet")

    def test_docker_compose_takes_it(self, deploy):
        assert self.config(deploy) == (0, "")

    @pytest.mark.parametrize(
        ("right", "wrong", "why"),
        [
            ("stop_grace_period: 2m", "stop_grace: 2m", "Unsupported config option"),
            ("      migrate: {condition", "      migration: {condition", "undefined"),
            ('["mlflow:/var', '["mlflaw:/var', "mlflaw"),
        ],
    )
    def test_a_mistake_is_found(self, deploy, right, wrong, why):
        file = deploy / "compose" / "compose.yaml"
        with_mistake(file, right, wrong)
        status, said = self.config(deploy)
        assert status == 1
        assert why in said


class TestKubernetes:
    def validate(self, *paths):
        folder = ROOT / ".venv" / "validators"
        if not folder.is_dir() and find_spec("kubernetes_validate") is None:
            pytest.skip("needs kubernetes-validate (make deploy-check)")
        command = (sys.executable, "-m", "kubernetes_validate", "--strict", "--quiet", *paths)
        return told(*command, env={"PYTHONPATH": str(folder)})

    def test_kubernetes_validate_finds_nothing(self):
        assert self.validate(*(DEPLOY / "kubernetes" / name for name in MANIFESTS)) == (0, "")

    @pytest.mark.parametrize(
        ("name", "right", "wrong"),
        [
            ("worker.yaml", "terminationGracePeriodSeconds:", "terminationGraceSeconds:"),
            ("worker.yaml", "readOnlyRootFilesystem: true", "readOnlyRoot: true"),
            ("pages.yaml", "replicas: 1", "replicas: one"),
            ("round.yaml", "concurrencyPolicy: Forbid", "concurrency: Forbid"),
            ("migrate.yaml", "backoffLimit: 3", "backOffLimit: 3"),
            ("network.yaml", "policyTypes: [Ingress, Egress]", "policyType: [Ingress]"),
        ],
    )
    def test_a_mistake_is_found(self, deploy, name, right, wrong):
        file = deploy / "kubernetes" / name
        with_mistake(file, right, wrong)
        status, said = self.validate(file)
        assert status == 1
        assert name in said


class TestSystemd:
    @pytest.fixture
    def units(self, deploy):
        """The units, whose program is one that is there."""
        program = deploy / "pumonitor"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        for path in (deploy / "systemd").iterdir():
            path.write_text(path.read_text().replace("/opt/pumonitor/bin/pumonitor", str(program)))
        return deploy / "systemd"

    def analyze(self, units, *words, names=UNITS):
        tool = needs("systemd-analyze", "Debian: apt install systemd")
        return told(tool, *words, *(units / name for name in names))

    def test_verify_says_nothing(self, units):
        assert self.analyze(units, "verify") == (0, "")

    def test_verify_names_an_unknown_key_though_it_exits_with_0(self, units):
        with_mistake(units / "pumonitor.service", "ProtectHome=yes", "ProtectHomes=yes")
        _, said = self.analyze(units, "verify", names=["pumonitor.service"])
        assert "ProtectHomes" in said

    def test_verify_names_a_program_that_is_missing(self, units):
        with_mistake(units / "pumonitor-run.service", "ExecStart=", "ExecStart=/nowhere")
        status, said = self.analyze(units, "verify", names=["pumonitor-run.service"])
        assert status == 1
        assert "/nowhere" in said

    @pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
    def test_a_service_is_shut_in(self, units, name):
        status, said = self.analyze(
            units, "security", "--offline=yes", "--threshold=20", names=[name]
        )
        assert status == 0, said

    def test_a_service_that_is_not_shut_in_is_found(self, units):
        with_mistake(units / "pumonitor.service", "SystemCallFilter=@system-service\n", "")
        with_mistake(units / "pumonitor.service", "CapabilityBoundingSet=\n", "")
        status, _ = self.analyze(
            units, "security", "--offline=yes", "--threshold=20", names=["pumonitor.service"]
        )
        assert status == 1


class TestProxy:
    @pytest.fixture
    def nginx(self, deploy):
        """What nginx says of the site, with a certificate of its own."""
        tool = needs("nginx", "Debian: apt install nginx-light")
        site = deploy / "proxy" / "pumonitor.conf"
        tls = deploy / "proxy" / "pumonitor"
        certificate = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
        certificate += ["ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=pumonitor.example.org"]
        status, said = told(*certificate, "-keyout", f"{tls}.key", "-out", f"{tls}.crt")
        assert status == 0, said
        site.write_text(site.read_text().replace("/etc/nginx/tls/pumonitor", str(tls)))
        whole = deploy / "nginx.conf"
        whole.write_text(
            f"pid {deploy}/nginx.pid; error_log stderr; events {{}}\n"
            f"http {{ access_log off; include {site}; }}\n"
        )
        return lambda: told(tool, "-t", "-q", "-p", deploy, "-c", whole)

    def test_nginx_takes_it(self, nginx):
        assert nginx() == (0, "")

    def test_a_mistake_is_found(self, nginx, deploy):
        with_mistake(deploy / "proxy" / "pumonitor.conf", "proxy_read_timeout", "proxy_timeout")
        status, said = nginx()
        assert status == 1
        assert 'unknown directive "proxy_timeout"' in said


class TestPrometheus:
    @pytest.fixture
    def files(self, deploy):
        """The two files, whose rules and secrets are there."""
        folder = deploy / "prometheus"
        (folder / "pumonitor.rules.yml").write_text("groups: []\n")
        for name in ("pumonitor-health-token", "people-webhook"):
            (folder / name).write_text("a token of some length")
        for path in folder.glob("*.yml"):
            text = re.sub("/(?:etc/prometheus|run/secrets)/", f"{folder}/", path.read_text())
            path.write_text(text)
        return folder

    def check(self, files, tool):
        if tool == "promtool":
            words = (needs(tool, "Debian: apt install prometheus"), "check", "config")
            return told(*words, files / "prometheus.yml")
        words = (needs(tool, "Debian: apt install prometheus-alertmanager"), "check-config")
        return told(*words, files / "alertmanager.yml")

    @pytest.mark.parametrize("tool", ["promtool", "amtool"])
    def test_it_is_taken(self, files, tool):
        status, said = self.check(files, tool)
        assert status == 0, said

    @pytest.mark.parametrize(
        ("tool", "name", "right", "wrong"),
        [
            ("promtool", "prometheus.yml", "credentials_file", "credential_file"),
            ("amtool", "alertmanager.yml", "receiver: people", "receiver: nobody"),
        ],
    )
    def test_a_mistake_is_found(self, files, tool, name, right, wrong):
        with_mistake(files / name, right, wrong)
        status, said = self.check(files, tool)
        assert status == 1
        assert wrong.split()[-1] in said
