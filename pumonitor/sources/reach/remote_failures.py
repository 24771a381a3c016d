"""What a store or web server answered, in words; nothing of a signature is repeated."""

from __future__ import annotations

import re
from typing import Final

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.reach.remote_stores import TIMEOUT_SECONDS, TRIES, WEB, credentials_of

_ADDRESS: Final = re.compile(r"(\b[a-z][a-z0-9]*://)(?:[^/\s'\"@]*@)?([^\s'\"?]*)(?:\?[^\s'\"]*)?")
_REMOTE: Final = re.compile(r"HTTP (GET|HEAD) |^HTTP Error|\bETag\b|Transferred a partial")
_STATUS: Final = re.compile(r"(?:\(|returned )HTTP (\d+)")
_CODE: Final = re.compile(r"^([A-Z][A-Za-z]+): ", re.MULTILINE)
_HOST: Final = re.compile(r"'https?://(?:[^/'@]*@)?([^/'?]+)")
_SCHEME: Final = re.compile(r"\b([a-z][a-z0-9]*)://")
_CHANGED: Final = re.compile(r"\bETag\b|\(HTTP 41[26]\b|has (been )?changed|was modified")
_TRANSPORT: Final = (
    (r"Could not resolve host", "there is no host {host}: check {where}"),
    (
        r"Could not connect",
        "nothing answers at {host}: check {where}, and that the server runs",
    ),
    (
        r"[Tt]ime-?out|timed out",
        "{host} did not answer within {seconds} seconds, {tries} times: it is slow or out of reach",
    ),
    (r"partial file", "the connection broke off in the middle: try again later"),
    (
        r"certificate|SSL peer|CA cert",
        "the certificate of {host} is not trusted: name the file of its authority with "
        "AWS_CA_BUNDLE or SSL_CERT_FILE",
    ),
    (
        r"SSL|TLS",
        "{host} takes no secure connection: if it uses plain http, write http:// in {where}",
    ),
)


def without_signatures(message: str) -> str:
    """The text with every address in it cut to what may be seen.

    Examples
    --------
    >>> without_signatures("no file 'https://me:hunter2@host/p.csv?sig=abc'")
    "no file 'https://host/p.csv'"
    """
    return _ADDRESS.sub(r"\1\2", message)


def remote_failure(error: Exception, name: str) -> Exception | None:
    """The error to raise for one that came over the network; None for others.

    Parameters
    ----------
    error : Exception
        DuckDB's.
    name : str
        Of the table, with its address without secrets.
    """
    said = str(error)
    if not _REMOTE.search(said):
        return None
    if _CHANGED.search(said):
        return SourceError(f"{name} was replaced while it was read: read it again")
    host = _HOST.search(said)
    found = _SCHEME.search(name) or _SCHEME.search(said)
    scheme = found[1] if found else ""
    status = _STATUS.search(said)
    if status is None:
        where = "the address" if scheme in WEB else "the endpoint"
        if scheme == "s3":
            where = "AWS_ENDPOINT_URL"
        known = next((words for pattern, words in _TRANSPORT if re.search(pattern, said)), None)
        first = without_signatures(said.partition("\n")[0].removeprefix("IO Error: "))
        words = (known or first.replace("{", "(").replace("}", ")")).format(
            host=host[1] if host else "the server",
            where=where,
            seconds=TIMEOUT_SECONDS,
            tries=TRIES,
        )
        return SourceError(f"{name} cannot be read: {words}")
    return _answered(name, int(status[1]), _code(said), scheme)


def _code(said: str) -> str:
    """What a store calls its refusal."""
    found = _CODE.search(said.partition("\n")[2])
    return f", {found[1]}" if found else ""


def _answered(name: str, status: int, code: str, scheme: str) -> Exception:
    shown = f"(HTTP {status}{code})"
    if status == 404:
        what = "file" if scheme in WEB else "file or bucket"
        what = "bucket" if code.endswith("NoSuchBucket") else what
        return InputError(f"{name} cannot be read: there is no such {what} {shown}")
    if status in {0, 401, 403}:
        # Of what a web server refuses there is no status.
        said = f"access is denied {shown}" if status else "the server refuses to send it"
        what = f"{said}: check {credentials_of(scheme)}"
    elif status in {301, 307, 400}:
        what = f"the request is refused {shown}: check {credentials_of(scheme)}"
        if scheme == "s3":
            what += "; and AWS_REGION, the bucket's region"
    elif status == 429 or status >= 500:
        what = f"the server is overloaded or failing {shown}: try again later"
    else:
        what = f"the server refuses {shown}"
    return SourceError(f"{name} cannot be read: {what}")
