"""Both tables of a monitor."""

import pytest

from tests.monitor.onboarding_tables import tables


@pytest.fixture(scope="module")
def both():
    return tables()
