import pytest

from tests.datasets.archive_server import archive_server


@pytest.fixture
def archive():
    with archive_server() as running:
        yield running
