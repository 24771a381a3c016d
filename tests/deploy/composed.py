"""Services of compose.yaml as processes: the same commands and environment, at places of a test."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import make_url

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
TOKEN = "a-token-of-some-length"  # noqa: S105
PROGRAMS = {
    "pumonitor": [sys.executable, "-c", "from pumonitor.cli.app import main; main()"],
    "mlflow": [sys.executable, "-m", "mlflow"],
    "python": [sys.executable],
}
SECONDS = 120.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Composed:
    """What compose.yaml starts, without containers.

    Names of hosts, ports and folders of containers are replaced by those of the test; nothing else.
    """

    def __init__(self, folder: Path, database: str) -> None:
        text = (DEPLOY / "compose" / "compose.yaml").read_text(encoding="utf-8")
        self._services: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
        self.ports = {port: free_port() for port in ("5000", "8080", "8090")}
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("etc", "secrets", "state", "data", "tmp"):
            (folder / name).mkdir()
        for name, value in (("database_password", "any"), ("health_token", TOKEN)):
            (folder / "secrets" / name).write_text(f"{value}\n")
        url = make_url(database)
        place = f"@/{url.database}?host={url.query['host']}"
        configuration = (DEPLOY / "pumonitor.yaml").read_text(encoding="utf-8")
        assert "@postgres/pumonitor" in configuration
        configuration = configuration.replace("@postgres/pumonitor", place)
        (folder / "etc" / "pumonitor.yaml").write_text(self._here(configuration))

    def _here(self, text: str) -> str:
        for there, here in (
            ("/etc/pumonitor", self._folder / "etc"),
            ("/run/secrets", self._folder / "secrets"),
            ("/var/lib/pumonitor", self._folder / "state"),
            ("/data/", f"{self._folder / 'data'}/"),
            ("/opt/pumonitor/healthy.py", DEPLOY / "container" / "healthy.py"),
        ):
            text = text.replace(there, str(here))
        text = re.sub(r"\bmlflow:(?=\d)", "127.0.0.1:", text)
        for port, free in self.ports.items():
            text = re.sub(rf"(?<=[:=]){port}\b", str(free), text)
        return text

    def _command(self, words: list[str]) -> list[str]:
        return PROGRAMS[words[0]] + [self._here(word) for word in words[1:]]

    def _environment(self, service: Mapping[str, Any]) -> dict[str, str]:
        image = re.search(
            r"^ENV (.*?[^\\])\n", (DEPLOY / "container" / "Containerfile").read_text(), re.M | re.S
        )
        assert image is not None
        pairs = dict(word.split("=", 1) for word in image[1].replace("\\\n", " ").split())
        pairs.pop("PATH")
        pairs |= service.get("environment", {})
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        temporary = {"TMPDIR": str(self._folder / "tmp")}
        return kept | temporary | {name: self._here(value) for name, value in pairs.items()}

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(encoding="utf-8")

    def start(self, name: str) -> None:
        """Start a service, and wait until its health check is content."""
        service = self._services[name]
        command = self._command([*service.get("entrypoint", ["pumonitor"]), *service["command"]])
        with (self._folder / f"{name}.log").open("wb") as log:
            self._running[name] = subprocess.Popen(
                command,
                cwd=self._folder / "state",
                env=self._environment(service),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        check = self._command(service["healthcheck"]["test"][1:])
        self.wait(name, lambda: self._run(check, service).returncode == 0)

    def wait(self, name: str, until: Any) -> None:
        """Wait until it is so; a service that ends meanwhile fails."""
        deadline = time.monotonic() + SECONDS
        while not until():
            assert self._running[name].poll() is None, self.log(name)
            assert time.monotonic() < deadline, self.log(name)
            time.sleep(0.2)

    def heard(self, name: str, words: str) -> None:
        self.wait(name, lambda: words in self.log(name))

    def once(self, name: str, *also: str) -> subprocess.CompletedProcess[str]:
        """Run a service that ends by itself."""
        return self.instead(name, *self._services[name]["command"], *also)

    def instead(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run another command in place of a service's, as `docker-compose run` does."""
        return self._run(self._command(["pumonitor", *words]), self._services[name])

    def version(self, folder: Path, name: str) -> subprocess.CompletedProcess[str]:
        """Run a service with the program that lies in a folder."""
        service = self._services[name]
        command = self._command(["pumonitor", *service["command"]])
        return self._run(command, service, PYTHONPATH=str(folder))

    def _run(
        self, command: list[str], service: Mapping[str, Any], **also: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self._folder / "state",
            env=self._environment(service) | also,
            check=False,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def ask(self, port: str, path: str, *, token: str = "", host: str = "") -> str:
        """What the service with this port in its container answers."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if host:
            headers["Host"] = host
        url = f"http://127.0.0.1:{self.ports[port]}{path}"
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return str(answer.read().decode())

    def stop(self, *names: str) -> dict[str, int]:
        """End services gently; their exit statuses."""
        ended = {}
        for name in names or tuple(self._running):
            process = self._running.pop(name)
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                ended[name] = process.wait(timeout=60)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        return ended
