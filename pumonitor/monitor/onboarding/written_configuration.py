"""Write a configuration file; an existing one is overwritten only on request."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile

from pumonitor.errors import InputError, SourceError
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.onboarding.configuration_text import configuration_text
from pumonitor.monitor.onboarding.onboarded import Onboarded


def refuse_existing(path: Path) -> None:
    """Raise an error if the path exists.

    Raises
    ------
    InputError
        If it exists.
    """
    if path.exists():
        msg = (
            f"{path} exists already: overwrite it with --force, or give another file with --output"
        )
        raise InputError(msg)


def write_configuration(found: Onboarded, path: Path) -> None:
    """Write the configuration after checking that it can be read without an error.

    Raises
    ------
    InputError
        If a value is not valid in a configuration.
    SourceError
        If the file cannot be written.
    """
    text = configuration_text(found, folder=path.absolute().parent)
    read_configuration_text(text, path=path, environment={})
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.absolute().parent, delete=False, suffix=".yaml"
        ) as file:
            file.write(text)
        written = Path(file.name)
        written.chmod(0o644)
        written.replace(path)
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror or error}"
        raise SourceError(msg) from None
