"""What every test may name without importing it, and what each run does beside its tests."""

import gc
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


def pytest_collection_finish() -> None:
    """Look rarely for garbage of circles: tests make little of it, and looking takes a fifteenth of their time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 1_000)


@pytest.fixture(autouse=True)
def environment_of_its_own() -> Iterator[None]:
    """Take back what a test puts into the environment: a command that runs in this process reads profiles into it."""
    before = dict(os.environ)
    yield
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)
