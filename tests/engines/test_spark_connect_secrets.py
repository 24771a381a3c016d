"""An address of Spark Connect keeps its token, whatever the client repeats of it."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from pumonitor.errors import SourceError
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.sources.engines import spark_connect
from pumonitor.sources.engines.spark_connect import SparkConnectEngine

TEXT = """\
monitors:
  fraud:
    predictions: {source: {url: "URL", table: t}, id: id, time: time, score: score}
    positives: {source: c.csv, id: id, known_at: known}
    window: 1d
    maturity: 8d
    threshold: 0.5
"""


@pytest.mark.parametrize(
    "url",
    [
        "sc://host:15002/;token=kanarien%20vogel",
        "sc://host:15002/;user_id=ada;token=kanarien%20vogel;use_ssl=true",
        "sc://ada:kanarien%20vogel@host:15002",
        "sc://host:15002?password=kanarien%20vogel",
    ],
)
def test_no_message_repeats_it(url):
    def connect():
        msg = f"no answer of {url}, which is {unquote(url)}"
        raise RuntimeError(msg)

    with pytest.raises(SourceError) as told:
        SparkConnectEngine(connect, url=url)
    assert "the Spark server sc://host:15002 cannot be read" in str(told.value)
    assert "kanarien" not in str(told.value)


def test_without_one_the_message_is_whole():
    def connect():
        msg = "no answer of sc://host:15002"
        raise RuntimeError(msg)

    with pytest.raises(SourceError, match="no answer of sc://host:15002"):
        SparkConnectEngine(connect, url="sc://host:15002")


def test_a_session_that_never_answers_is_ended(monkeypatch):
    """Else it stays the session of its thread, which others then ask and wait for."""

    class Silent:
        ended = False

        @property
        def version(self):
            msg = "no answer"
            raise RuntimeError(msg)

        def stop(self):
            self.ended = True

    monkeypatch.setattr(spark_connect, "try_for_seconds", lambda session: None)
    session = Silent()
    with pytest.raises(SourceError, match="no answer"):
        SparkConnectEngine(lambda: session, url="sc://host:15002")
    assert session.ended


def test_the_token_is_no_part_of_what_is_stored():
    found = [
        read_configuration_text(TEXT.replace("URL", url), environment={"TOKEN": "kanarienvogel"})
        for url in ("sc://host:15002/;token=${TOKEN}", "sc://host:15002")
    ]
    sources = [one.configuration.monitors["fraud"].predictions.source for one in found]
    assert sources[0].identity == sources[1].identity
    assert "kanarien" not in f"{sources[0].name} {sources[0].server} {sources[0]!r}"
