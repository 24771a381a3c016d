"""What DuckDB needs to read addresses: its extensions, and the credentials of the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.reach.remote_stores import (
    ENDPOINTS,
    KEYS,
    KINDS,
    TIMEOUT_SECONDS,
    TRIES,
    WEB,
)
from pumonitor.sources.reach.session import text

if TYPE_CHECKING:
    import duckdb

_INSTALL: Final = (
    "pip install duckdb==1.5.5 duckdb-extension-httpfs==1.5.5 duckdb-extension-aws==1.5.5, or, for "
    "another version of DuckDB, python -c \"import duckdb; duckdb.sql('INSTALL {}')\""
)
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")


def prepare_access(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Load what reads addresses and hand it the credentials of the environment.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        New, and not locked yet.
    names : sequence of str
        The addresses, without secrets.

    Raises
    ------
    InputError
        If the environment says something about the store that cannot be.
    SourceError
        If an extension is not installed, or a profile has no credentials.
    """
    if not _loaded(connection, "httpfs"):
        msg = (
            f"{names[0]} is an address, which DuckDB reads through its extension httpfs, which is "
            f"not installed: {_INSTALL.format('httpfs')}, or copy the files to this machine"
        )
        raise SourceError(msg)
    # What lies in a home directory is no part of the configuration, and could not be read later.
    connection.execute("SET allow_persistent_secrets = false")
    connection.execute(f"SET http_timeout = {TIMEOUT_SECONDS}")
    connection.execute(f"SET http_retries = {TRIES - 1}")
    connection.execute("SET enable_server_cert_verification = true")
    if authorities := _first("AWS_CA_BUNDLE", "SSL_CERT_FILE")[1]:
        connection.execute(f"SET ca_cert_file = {text(authorities)}")
    schemes = {name.partition("://")[0] for name in names}
    for kind in sorted({KINDS[scheme] for scheme in schemes if scheme in KINDS}):
        _create_secret(connection, kind)


def _loaded(connection: duckdb.DuckDBPyConnection, extension: str) -> bool:
    """Whether an extension could be loaded: a package's file, or what was installed by DuckDB."""
    import duckdb

    named = extension
    package = find_spec(f"duckdb_extension_{extension}")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        file = Path(folder, "extensions", f"v{duckdb.__version__}", f"{extension}.duckdb_extension")
        if file.exists():
            named = text(str(file))
    try:
        connection.execute(f"LOAD {named}")
    except duckdb.Error:
        return False
    return True


def _create_secret(connection: duckdb.DuckDBPyConnection, kind: str) -> None:
    keys = KEYS[kind]
    given = {option: os.environ[name] for option, name in keys.items() if os.environ.get(name)}
    if ("KEY_ID" in given) != ("SECRET" in given):
        names = [keys["KEY_ID"], keys["SECRET"]]
        there, missing = names if "KEY_ID" in given else reversed(names)
        msg = f"{there} is set and {missing} is not: set both, or neither"
        raise InputError(msg)
    options = _place(kind)
    if "KEY_ID" in given:
        _write(connection, kind, options | {name: text(value) for name, value in given.items()})
    elif kind == "gcs" or not _by_chain(connection, kind, options):
        # Without keys: what everybody may read.
        _write(connection, kind, options)


def _by_chain(connection: duckdb.DuckDBPyConnection, kind: str, options: dict[str, str]) -> bool:
    """Whether there were credentials where the SDK looks: profiles, web identity, roles."""
    import duckdb

    profile = os.environ.get("AWS_PROFILE")
    if not _loaded(connection, "aws"):
        if profile:
            msg = (
                f"AWS_PROFILE is {profile}, and DuckDB reads profiles and roles through its "
                f"extension aws, which is not installed: {_INSTALL.format('aws')}, or set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
            raise SourceError(msg)
        return False
    try:
        _write(connection, kind, {"PROVIDER": "credential_chain", **options})
    except duckdb.Error:
        if profile:
            msg = (
                f"AWS_PROFILE is {profile}, for which there are no credentials: check its name "
                "and the credentials file, or sign in again"
            )
            raise SourceError(msg) from None
        return False
    return True


def _write(connection: duckdb.DuckDBPyConnection, kind: str, options: dict[str, str]) -> None:
    listed = "".join(f", {option} {value}" for option, value in options.items())
    connection.execute(f"CREATE OR REPLACE SECRET pumonitor_{kind} (TYPE {kind}{listed})")


def _place(kind: str) -> dict[str, str]:
    """Region and endpoint, as options of a secret."""
    options: dict[str, str] = {}
    if kind == "s3" and (region := _first(*_REGIONS)[1]):
        options["REGION"] = text(region)
    variable, endpoint = _first(*ENDPOINTS[kind])
    if not endpoint:
        if kind == "r2":
            options["ACCOUNT_ID"] = text(_account())
        return options
    scheme, mark, host = endpoint.rpartition("://")
    host = host.rstrip("/")
    if (mark and scheme.lower() not in WEB) or not host or any(one in host for one in "@?# "):
        msg = f"{variable} must be an address such as https://host or http://host:9000"
        raise InputError(msg)
    options["ENDPOINT"] = text(host)
    options["USE_SSL"] = "false" if scheme.lower() == "http" else "true"
    if not host.partition(":")[0].endswith(".amazonaws.com"):
        virtual = os.environ.get("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "").lower() == "true"
        options["URL_STYLE"] = text("vhost" if virtual else "path")
    return options


def _account() -> str:
    account = os.environ.get("CLOUDFLARE_ACCOUNT_ID", "")
    if not account:
        msg = (
            "addresses of r2:// need the account: set CLOUDFLARE_ACCOUNT_ID, or AWS_ENDPOINT_URL "
            "to https://ACCOUNT.r2.cloudflarestorage.com"
        )
        raise InputError(msg)
    return account


def _first(*names: str) -> tuple[str, str]:
    """The first variable that is set, with its value; the value is empty where none is."""
    found = next((name for name in names if os.environ.get(name, "").strip()), names[0])
    return found, os.environ.get(found, "").strip()
