"""Fixtures that start the real things once for a session; tests name them and never start one themselves.

Under `pytest -n` each worker starts its own. Tests that share one belong to one `xdist_group`
(`control_plane`, `emulator`) and run with `--dist loadgroup`.
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
