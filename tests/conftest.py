"""What every test may name without importing it, and what each run does beside its tests."""

import os
from collections.abc import Iterator

import pytest

pytest_plugins = [
    "pytester",
    "tests.acceptance",
    "tests.depth",
    "tests.fixtures_real",
    "tests.rights.plugin",
    "tests.measured_figures",
    "tests.times",
]


@pytest.fixture(autouse=True)
def environment_of_its_own() -> Iterator[None]:
    """Take back what a test puts into the environment: a command that runs in this process reads profiles into it."""
    before = dict(os.environ)
    yield
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)
