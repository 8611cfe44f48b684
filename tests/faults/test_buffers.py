"""Worlds in which capacity buffers hold room: what Ebb saves is not bought back for them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from infra.local.scaling.client import AGENT
from shared.core.placement import demand, simulation
from shared.core.placement.buffer_room import BufferRoom
from shared.core.placement.cluster_arrays import ClusterArrays
from tests.faults.history import History, run
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.worlds import Setting, with_buffers

each_world = pytest.mark.parametrize("setting", with_buffers(), ids=lambda setting: setting.name)


@each_world
def test_room_of_buffers_is_kept_and_the_rest_is_saved(setting: Setting) -> None:
    end = run(History(setting))
    assert breaches(end) == []
    assert len(end.cloud.world.store.all("nodes")) < 5
    for buffer in end.cloud.world.store.all("capacitybuffers"):
        assert buffer["status"]["readyReplicas"] == buffer["status"]["replicas"]
    assert {each["actor"] for each in end.cloud.world.record.of("eviction")}.isdisjoint({AGENT})


@contextmanager
def _blind() -> Iterator[None]:
    """Plan and prove as if there were no buffers."""

    def blind(arrays: ClusterArrays, _: object) -> BufferRoom:
        return BufferRoom(arrays, ())

    with swapped(simulation, "BufferRoom", blind), swapped(demand, "BufferRoom", blind):
        yield


def test_an_installation_that_is_blind_to_buffers_is_seen() -> None:
    with _blind():
        found = (fault for setting in with_buffers() for fault in breaches(run(History(setting))))

        assert any("bought back" in fault for fault in found)
