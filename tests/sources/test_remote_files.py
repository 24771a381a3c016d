"""Files in a real object store and on a real web server are counted as the same files here."""

from __future__ import annotations

import datetime as dt
import json
import socket
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_address

import pandas as pd
import pyarrow.compute as pc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from deltalake import DeltaTable

from pumonitor.errors import DamagedFileError, InputError, PumonitorError, SourceError
from pumonitor.sources.lakes.opening import open_lake
from tests.sources.file_servers import KEY, SECRET, FileServer
from tests.sources.lake_tables import arrow_of, delta_table
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = [
    pytest.mark.usefixtures("httpfs"),
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

ROWS = 400
SIGNATURE = "?X-Amz-Credential=canary/20260101&X-Amz-Signature=canary"


@pytest.fixture(scope="session")
def local(served_folder):
    """A bucket, in which predictions lie in a folder a day.

    It lives as long as the folder that is served: a worker may leave this file and come back to it.
    """
    bucket = served_folder / "bucket"
    made, known = predictions(ROWS), labels(ROWS)
    for day, part in made.groupby(made.scored_at.dt.date):
        folder = bucket / "scored" / f"day={day}"
        folder.mkdir(parents=True)
        part.iloc[::2].to_parquet(folder / "part-0.parquet")
        part.iloc[1::2].to_parquet(folder / "part-1.parquet")
    made.to_parquet(bucket / "scored.parquet")
    made.to_csv(bucket / "scored.csv", index=False)
    known.to_parquet(bucket / "known.parquet")
    known.to_csv(bucket / "known.csv.gz", index=False)
    text = json.loads(known.to_json(orient="records", date_format="iso", date_unit="us"))
    rows = [{name: value for name, value in row.items() if value is not None} for row in text]
    (bucket / "known.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return bucket


@pytest.fixture(scope="session")
def expected(local):
    return counts(str(local / "scored/day=*/part-*.parquet"), str(local / "known.parquet"))


def counts(made, known):
    with closing(opened(made, known)) as source:
        return source.counts(REQUEST)


def message_of(made, known, kind):
    """The one line that is said, in which nothing is secret."""
    with pytest.raises(PumonitorError) as caught:
        counts(made, known)
    said = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in said
    assert "canary" not in said
    assert "X-Amz" not in said
    assert SECRET not in said
    return said


@pytest.mark.parametrize(
    ("made", "known"),
    [
        ("scored/day=*/part-*.parquet", "known.csv.gz"),
        ("scored/*/part-[01].parquet", "known*.jsonl"),
        ("scored.csv", "known.parquet"),
    ],
)
def test_a_store(store, local, expected, made, known):
    assert_equal(counts(f"s3://bucket/{made}", f"s3://bucket/{known}"), expected)


@pytest.mark.parametrize("scheme", ["gs", "r2"])
def test_stores_that_speak_the_same_language(store, environment, local, expected, scheme):
    environment.setenv("STORAGE_EMULATOR_HOST", store.address)
    environment.setenv("GCS_ACCESS_KEY_ID", KEY)
    environment.setenv("GCS_SECRET_ACCESS_KEY", SECRET)
    address = f"{scheme}://bucket"
    assert_equal(counts(f"{address}/scored/day=*/*.parquet", f"{address}/known.parquet"), expected)
    environment.setenv("GCS_SECRET_ACCESS_KEY", "canary")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    said = message_of(f"{address}/scored.csv", f"{address}/known.parquet", SourceError)
    assert f"predictions {address}/scored.csv cannot be read: access is denied (HTTP 403" in said
    keys = "AWS_ACCESS_KEY_ID" if scheme == "r2" else "GCS_ACCESS_KEY_ID"
    assert f"check {keys} and " in said


@pytest.mark.parametrize("known", ["known.csv.gz", "known.jsonl"])
def test_a_web_server(web_server, environment, local, expected, known):
    address = f"{web_server.address}/bucket"
    found = counts(f"{address}/scored.parquet{SIGNATURE}", f"{address}/{known}{SIGNATURE}")
    assert_equal(found, expected)


def test_one_table_here_and_one_in_a_store(store, local, expected):
    assert_equal(counts(str(local / "scored.parquet"), "s3://bucket/known.csv.gz"), expected)


def test_a_password_in_the_address(environment, local, expected):
    with FileServer("http", local.parent, "--user", "me", "--pass", "canary") as server:
        address = server.address.replace("//", "//me:canary@") + "/bucket"
        assert_equal(counts(f"{address}/scored.parquet", f"{address}/known.csv.gz"), expected)
        wrong = address.replace("canary", "canary2")
        said = message_of(f"{wrong}/scored.parquet", f"{address}/known.csv.gz", SourceError)
    assert said.startswith(f"predictions {server.address}/bucket/scored.parquet cannot be read")
    assert "check the user and password in the address, or its signature" in said


def test_names_that_addresses_escape(store, local, expected):
    name = "a b+ä&it's 100%=#1.parquet"
    store.bucket("odd", {name: local / "scored.parquet"})
    for pattern in (name, f"{name[:3]}*.parquet"):
        assert_equal(counts(f"s3://odd/{pattern}", "s3://bucket/known.parquet"), expected)


def test_labels_that_are_not_there_yet(store, local):
    found = counts("s3://bucket/scored.parquet", "s3://bucket/later/day=*/*.parquet")
    assert found.found.label_rows == 0
    said = message_of("s3://bucket/p*.parquet", "s3://bucket/known.parquet", InputError)
    assert said == "no file matches s3://bucket/p*.parquet: check the bucket and the pattern"


@pytest.mark.parametrize(
    ("made", "known", "kind", "expected"),
    [
        (
            "s3://bucket/nope.parquet",
            "s3://bucket/known.parquet",
            InputError,
            "predictions s3://bucket/nope.parquet cannot be read: there is no such file or bucket "
            "(HTTP 404)",
        ),
        (
            "s3://nope/*.parquet",
            "s3://bucket/known.parquet",
            InputError,
            "predictions s3://nope/*.parquet cannot be read: there is no such bucket (HTTP 404, "
            "NoSuchBucket)",
        ),
        (
            "s3://bucket/scored.csv",
            "s3://bucket/nope.csv",
            InputError,
            "positives s3://bucket/nope.csv cannot be read: there is no such file or bucket",
        ),
        (
            "WEB/nope.parquet",
            "s3://bucket/known.parquet",
            InputError,
            "predictions WEB/nope.parquet cannot be read: there is no such file (HTTP 404)",
        ),
        (
            "WEB/known.csv.gz",
            "s3://bucket/known.parquet",
            InputError,
            "predictions WEB/known.csv.gz has no column 'prediction id' (id)",
        ),
        (
            "WEB/cut.parquet",
            "s3://bucket/known.parquet",
            DamagedFileError,
            "it is cut off, or still",
        ),
        ("WEB/empty.csv", "s3://bucket/known.parquet", InputError, "has no header line"),
        ("WEB/bad.json", "s3://bucket/known.parquet", InputError, "Malformed JSON in file"),
    ],
)
def test_files_that_cannot_be_read(store, web_server, local, made, known, kind, expected):
    (local / "cut.parquet").write_bytes((local / "scored.parquet").read_bytes()[:-100])
    (local / "empty.csv").write_bytes(b"")
    (local / "bad.json").write_text('{"prediction id": ')
    web = f"{web_server.address}/bucket"
    signed = SIGNATURE if made.startswith("WEB") else ""
    said = message_of(made.replace("WEB", web) + signed, known, kind)
    assert expected.replace("WEB", web) in said


@pytest.mark.parametrize(
    ("variables", "kind", "expected"),
    [
        (
            {"AWS_SECRET_ACCESS_KEY": "canary"},
            SourceError,
            "access is denied (HTTP 403, SignatureDoesNotMatch): check AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or the profile or role, and that they may list and read the",
        ),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, SourceError, "(HTTP 403, InvalidAccessKeyId)"),
        (
            {"AWS_ACCESS_KEY_ID": ""},
            InputError,
            "AWS_SECRET_ACCESS_KEY is set and AWS_ACCESS_KEY_ID is not: set both, or neither",
        ),
        (
            {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            SourceError,
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile or role",
        ),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
            SourceError,
            "nothing answers at 127.0.0.1:1: check AWS_ENDPOINT_URL, and that the server runs",
        ),
        (
            {"AWS_ENDPOINT_URL_S3": "http://no-such-host.invalid"},
            SourceError,
            "there is no host no-such-host.invalid: check AWS_ENDPOINT_URL",
        ),
        (
            {"AWS_ENDPOINT_URL": "https://PLACE"},
            SourceError,
            "PLACE takes no secure connection: if it uses plain http, write http:// in "
            "AWS_ENDPOINT_URL",
        ),
        (
            {"AWS_ENDPOINT_URL": "http://me:canary@PLACE"},
            InputError,
            "AWS_ENDPOINT_URL must be an address such as https://host or http://host:9000",
        ),
        (
            {"AWS_PROFILE": "nobody", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            SourceError,
            "AWS_PROFILE is nobody, for which there are no credentials: check its name",
        ),
    ],
)
def test_an_environment_that_does_not_fit(store, environment, local, variables, kind, expected):
    place = f"127.0.0.1:{store.port}"
    for name, value in variables.items():
        environment.setenv(name, value.replace("PLACE", place))
    said = message_of("s3://bucket/scored/day=*/*.parquet", "s3://bucket/known.parquet", kind)
    assert expected.replace("PLACE", place) in said


def test_a_profile(store, environment, local, tmp_path):
    keys = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    (tmp_path / "credentials").write_text(f"[default]\n{keys[:-5]}\n[scoring]\n{keys}")
    environment.setenv("AWS_PROFILE", "scoring")
    environment.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        environment.delenv(name)
    assert counts("s3://bucket/scored.csv", "s3://bucket/known.parquet").rows.sum() > 0


def test_the_endpoint_of_the_service_counts_before_that_of_all(store, environment, local):
    environment.setenv("AWS_ENDPOINT_URL_S3", store.address + "/")
    environment.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert counts("s3://bucket/scored.csv", "s3://bucket/known.parquet").rows.sum() > 0


def test_account_of_r2(store, environment):
    environment.delenv("AWS_ENDPOINT_URL")
    said = message_of("r2://bucket/p.parquet", "r2://bucket/l.parquet", InputError)
    assert "set CLOUDFLARE_ACCOUNT_ID, or AWS_ENDPOINT_URL to https://ACCOUNT.r2.cloud" in said


@pytest.mark.parametrize("address", ["PLACE/p.parquet?sig=canary", "s3://bucket/p*.parquet"])
def test_a_server_that_never_answers(environment, address):
    environment.setattr("pumonitor.sources.reach.remote_access.TIMEOUT_SECONDS", 1)
    environment.setattr("pumonitor.sources.reach.remote_access.TRIES", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        environment.setenv("AWS_ENDPOINT_URL", f"http://{place}")
        environment.setenv("AWS_ACCESS_KEY_ID", KEY)
        environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        made = address.replace("PLACE", f"http://{place}")
        said = message_of(made, made, SourceError)
    assert f"{place} did not answer within 30 seconds, 4 times: it is slow or out of" in said


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_is_replaced_between_two_windows(store, web_server, local, kind):
    made = predictions(ROWS)
    write = {"parquet": pd.DataFrame.to_parquet, "csv": pd.DataFrame.to_csv}[kind]
    for base in ("s3://bucket", f"{web_server.address}/bucket"):
        write(made, local / f"fresh.{kind}", index=False)
        with closing(opened(f"{base}/fresh.{kind}", "s3://bucket/known.parquet")) as source:
            first = source.counts(REQUEST)
            write(made.iloc[::2], local / f"fresh.{kind}", index=False)
            second = source.counts(REQUEST)
        assert 0.4 * first.rows.sum() < second.rows.sum() < 0.6 * first.rows.sum()


def test_a_certificate_of_an_authority_of_one_s_own(environment, local, expected, tmp_path):
    authority = certificate_files(tmp_path)
    options = ["--cert", str(tmp_path / "server.pem"), "--key", str(tmp_path / "server.key")]
    with FileServer("s3", local.parent, "--auth-key", f"{KEY},{SECRET}", *options) as server:
        environment.setenv("AWS_ENDPOINT", f"127.0.0.1:{server.port}")
        environment.setenv("AWS_ACCESS_KEY_ID", KEY)
        environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        made, known = "s3://bucket/scored/day=*/*.parquet", "s3://bucket/known.parquet"
        said = message_of(made, known, SourceError)
        assert f"certificate of 127.0.0.1:{server.port} is not trusted: name the file" in said
        environment.setenv("AWS_CA_BUNDLE", str(authority))
        assert_equal(counts(made, known), expected)


def certificate_files(folder):
    """An authority's certificate, and one that it gave to this machine."""
    today = dt.datetime.now(dt.UTC)

    def made(name, issuer, key, issuer_key, extension):
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(today - timedelta(days=1))
            .not_valid_after(today + timedelta(days=2))
            .add_extension(extension, critical=False)
            .sign(issuer_key, hashes.SHA256())
            .public_bytes(serialization.Encoding.PEM)
        )

    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "here")
    ]
    root = made(names[0], names[0], keys[0], keys[0], x509.BasicConstraints(True, None))
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    (folder / "authority.pem").write_bytes(root)
    (folder / "server.pem").write_bytes(made(names[1], names[0], keys[1], keys[0], here))
    (folder / "server.key").write_bytes(
        keys[1].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "authority.pem"


@pytest.mark.parametrize(
    "pattern", ["day=*/*.parquet", "day=1/*.parquet", "**/*.parquet", "day=1/part.parquet"]
)
def test_a_pattern_inside_a_delta_table_of_a_store(store: FileServer, local, pattern):
    known = str(local / "known.parquet")
    files = {f"p/day={day}/part.parquet": local / "scored.parquet" for day in (1, 2)}
    store.bucket("lake", files)
    assert counts(f"s3://lake/p/{pattern}", known).found.predictions > 0
    log = store.folder / "lake" / "p" / "_delta_log"
    log.mkdir()
    (log / "00000000000000000000.json").write_text("{}")
    try:
        with pytest.raises(InputError) as caught:
            counts(f"s3://lake/p/{pattern}", known)
    finally:
        (log / "00000000000000000000.json").unlink()
        log.rmdir()
    said = str(caught.value)
    assert said.startswith(
        f"s3://lake/p/{pattern} names files of a Delta table, s3://lake/p (its _delta_log lists "
        "which of them are current)"
    )
    assert said.endswith("write delta://s3://lake/p instead (pip install 'pumonitor[delta]')")


def test_the_log_of_a_delta_table_of_a_store(store: FileServer, local, tmp_path):
    """Its library reads the same variables, and this server's log, but not its parts of files."""
    made = arrow_of(predictions(ROWS))
    delta_table(tmp_path / "made", made)
    DeltaTable(tmp_path / "made").delete("score < 0.001")
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    store.bucket("lake", {str(file): tmp_path / file for file in files})
    remaining = made.filter(pc.field("score") >= 0.001)
    assert 0 < remaining.num_rows < made.num_rows
    assert open_lake("delta://s3://lake/made").version.rows == remaining.num_rows
    for address, key in (("s3://lake/none", SECRET), ("s3://lake/made", "another")):
        with pytest.MonkeyPatch.context() as changed:
            changed.setenv("AWS_SECRET_ACCESS_KEY", key)
            with pytest.raises(PumonitorError) as caught:
                open_lake(f"delta://{address}")
        assert str(caught.value).startswith(f"delta://{address}")
        assert KEY not in str(caught.value)
        assert key not in str(caught.value)
