"""Fixtures that start the real things once for a session; tests name them and never start one themselves.

Under `pytest -n` each worker starts its own: run with `--dist loadfile`. The tests that share one also carry one
`xdist_group`, but pytest-xdist 3.8 does not see groups under pytest 9.2 and says nothing
(https://github.com/pytest-dev/pytest-xdist/issues/1386).
"""

from collections.abc import Iterator

import pytest

from infra.local.control_plane import ControlPlane, missing
from infra.local.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.needs import require


@pytest.fixture(scope="session")
def firestore_emulator() -> Iterator[FirestoreEmulator]:
    require(FirestoreEmulator.missing())
    with FirestoreEmulator() as emulator:
        yield emulator


@pytest.fixture(scope="session")
def pubsub_emulator() -> Iterator[PubSubEmulator]:
    require(PubSubEmulator.missing())
    with PubSubEmulator() as emulator:
        yield emulator


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """An empty cluster; a test that fills it works in a namespace and a node pool of its own."""
    require(missing())
    with ControlPlane() as plane:
        yield plane
