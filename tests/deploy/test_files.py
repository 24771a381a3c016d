"""What the files of deploy/ say fits pumonitor, and each other."""

import re
import runpy
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from pumonitor import __version__
from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.serving.health import health_server

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
TOKEN = "a-token-of-some-length"  # noqa: S105
PINS = re.compile(r"^([a-z0-9-]+==\S+) \\\n((?: {4}--hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def manifests():
    for path in sorted((DEPLOY / "kubernetes").iterdir()):
        for one in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            yield path.name, one


def pod_of(manifest):
    spec = manifest["spec"]
    return spec.get("jobTemplate", {"spec": spec})["spec"]["template"]["spec"]


PODS = [
    pytest.param(pod_of(one), id=one["metadata"]["name"])
    for _, one in manifests()
    if one["kind"] in ("Deployment", "Job", "CronJob")
]


def commands():
    """Every command of pumonitor that a file starts."""
    services = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))["services"]
    for name in ("migrate", "worker", "pages"):
        yield f"compose {name}", services[name]["command"]
    for pod in PODS:
        for one in pod.values[0].get("initContainers", []) + pod.values[0]["containers"]:
            yield f"kubernetes {pod.id} {one['name']}", one["args"]
    for path in sorted((DEPLOY / "systemd").glob("*.service")):
        text = path.read_text(encoding="utf-8").replace("\\\n", "")
        line = re.search(r"^ExecStart=/opt/pumonitor/bin/pumonitor (.*)$", text, re.M)
        yield path.name, line[1].split()


def test_the_lock_of_the_image_is_a_part_of_the_lock_that_is_tested():
    tested = dict(PINS.findall((ROOT / "requirements.lock").read_text("utf-8")))
    image = dict(PINS.findall((DEPLOY / "container" / "requirements.lock").read_text("utf-8")))
    assert len(image) > 100
    assert {pin: image[pin] for pin in image if tested.get(pin) != image[pin]} == {}
    assert not any(pin.startswith(("pytest==", "ruff==", "pyspark==")) for pin in image)
    assert any(pin.startswith("psycopg-binary==") for pin in image)


@pytest.mark.parametrize(("where", "words"), list(commands()))
def test_every_command_has_the_options_that_it_is_given(where, words):
    told = CliRunner().invoke(app, [words[0], "--help"], env={"COLUMNS": "200"})
    assert told.exit_code == 0, where
    for option in (word.partition("=")[0] for word in words if word.startswith("--")):
        assert option in told.output, where


def test_configurations_are_read(monkeypatch, tmp_path):
    (config_map,) = [one for _, one in manifests() if one["kind"] == "ConfigMap"]
    mapped = tmp_path / "pumonitor.yaml"
    mapped.write_text(config_map["data"]["pumonitor.yaml"])
    for name in ("PUMONITOR_DATABASE_PASSWORD", "WAREHOUSE_PASSWORD"):
        (tmp_path / name).write_text("secret\n")
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    for path in (DEPLOY / "pumonitor.yaml", mapped):
        configuration = read_configuration(path).configuration
        assert list(configuration.monitors) == ["card-fraud"]
        assert configuration.state_address.startswith("postgresql+psycopg://pumonitor:secret@")


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_keeps_to_the_restricted_rules(pod):
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for one in pod.get("initContainers", []) + pod["containers"]:
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= set(one["resources"])
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in one["volumeMounts"]} <= volumes


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_reads_secrets_that_there_are(pod):
    (secret,) = [one for _, one in manifests() if one["kind"] == "Secret"]
    for one in pod["containers"]:
        files = [variable["value"] for variable in one["env"]]
        assert {Path(file).name for file in files} <= set(secret["stringData"])
        assert {str(Path(file).parent) for file in files} == {"/run/secrets/pumonitor"}


def test_services_policies_and_budgets_choose_pods_that_there_are():
    components = {
        one["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"]
        for _, one in manifests()
        if one["kind"] == "Deployment"
    }
    chosen = [
        (one["spec"].get("podSelector") or one["spec"].get("selector") or {})
        for _, one in manifests()
        if one["kind"] in ("Service", "NetworkPolicy", "PodDisruptionBudget")
    ]
    labels = [some.get("matchLabels", some) for some in chosen]
    named = {some["app.kubernetes.io/component"] for some in labels if len(some) > 1}
    assert named == components == {"worker", "pages"}


def test_services_of_compose_are_shut_in():
    services = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))["services"]
    assert set(services) == {"postgres", "mlflow", "migrate", "worker", "pages"}
    for name, one in services.items():
        assert one["read_only"] is True, name
        assert one["cap_drop"] == ["ALL"], name
        assert "healthcheck" in one or name == "migrate"
        # Whatever is published is published to this machine alone.
        assert all(port.startswith("127.0.0.1:") for port in one.get("ports", [])), name


def test_no_file_holds_a_secret_or_names_an_index():
    for path in DEPLOY.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"index-url|extra-index|BEGIN .*PRIVATE KEY", text), path


def test_the_image_that_the_cluster_runs_has_this_version():
    released = __version__.partition(".dev")[0]
    images = {one["image"] for pod in PODS for one in pod.values[0]["containers"]}
    assert images == {f"registry.example.org/pumonitor:{released}"}


@pytest.fixture
def asked(monkeypatch):
    """The health check of the image; what it says is its exit status."""
    script = DEPLOY / "container" / "healthy.py"

    def ask(url):
        monkeypatch.setattr(sys, "argv", ["healthy.py", url])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(script), run_name="__main__")
        return ended.value.code

    return ask


def test_the_health_check_bears_the_token(asked, tmp_path, monkeypatch, capsys):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with health_server("127.0.0.1:0", ready=lambda: None, token=TOKEN) as port:
        assert asked(f"http://127.0.0.1:{port}/healthz") == 1
        assert "401" in capsys.readouterr().err
        monkeypatch.setenv("PUMONITOR_HEALTH_TOKEN_FILE", str(file))
        assert asked(f"http://127.0.0.1:{port}/healthz") == 0
        assert asked(f"http://127.0.0.1:{port}/nothing") == 1
    assert asked(f"http://127.0.0.1:{port}/healthz") == 1


def test_the_service_reads_its_token_from_a_file(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(
        "pumonitor.monitor.serving.serving.serve_until_stopped",
        lambda _configuration, *, health_token, **_: given.append(health_token),
    )
    config = tmp_path / "pumonitor.yaml"
    config.write_text((DEPLOY / "pumonitor.yaml").read_text())
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "password").write_text("secret")
    environment = {
        "PUMONITOR_DATABASE_PASSWORD_FILE": str(tmp_path / "password"),
        "PUMONITOR_HEALTH_TOKEN_FILE": str(tmp_path / "token"),
    }
    command = ["serve", "--config", str(config)]
    done = CliRunner().invoke(app, command, env=environment)
    assert (done.exit_code, given) == (0, [TOKEN]), done.output
    environment["PUMONITOR_HEALTH_TOKEN_FILE"] = str(tmp_path / "missing")
    done = CliRunner().invoke(app, command, env=environment)
    assert done.exit_code == 2
    assert "needs the file of PUMONITOR_HEALTH_TOKEN_FILE, which cannot be read" in done.stderr
