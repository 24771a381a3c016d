"""`tokens` shows a token once, and ends it."""

import json

import pytest

from tests.cli.test_alert_commands import invoke
from tests.monitor.monitored_shop import write_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return write_shop(tmp_path_factory.mktemp("tokens"), days=1)


def test_a_token_is_printed_once_listed_and_revoked(shop):
    made = invoke("tokens", "create", "grafana", "--expires", "90d", path=shop)
    text = made.stdout.strip()
    assert text.startswith("pum_")
    assert "shown this once" in made.stderr
    [found] = json.loads(invoke("tokens", "list", "--json", path=shop).stdout)
    assert (found["name"], found["right"], found["monitors"]) == ("grafana", "read", None)
    listed = invoke("tokens", "list", path=shop).stdout
    # The secret may have an underscore of its own.
    assert text.split("_", 2)[2] not in listed + json.dumps(found)
    assert "until" in listed
    again = invoke("tokens", "create", "grafana", path=shop, status=2)
    assert "there is a token 'grafana'" in again.stderr
    assert invoke("tokens", "revoke", "grafana", path=shop).stdout.startswith("revoked: grafana (")
    assert "revoked" in invoke("tokens", "list", path=shop).stdout
    refused = invoke("tokens", "revoke", "grafana", path=shop, status=2)
    assert "there is no token 'grafana' that could be revoked" in refused.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["x", "--expires", "soon"], "--expires "),
        (["x", "--monitor", "card-frau"], "did you mean 'card-fraud'"),
        ([" "], "the name of a token has 1 to 100 printable characters"),
        (["x\x1b"], "the name of a token has 1 to 100 printable characters"),
    ],
)
def test_a_token_that_cannot_be_made_says_why(shop, options, said):
    assert said in invoke("tokens", "create", *options, path=shop, status=2).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host-names", "a.example.org:80"], "without ports"),
        (["--host-names", "*.example.org"], "host names are those"),
        (["--trusted-proxy", "proxy"], "--trusted-proxy takes the IP address"),
        (["--address", "0.0.0.0:0"], "--host-names"),
    ],
)
def test_pages_for_others_need_plain_names(shop, options, said):
    assert said in " ".join(invoke("pages", *options, path=shop, status=2).stderr.split())
