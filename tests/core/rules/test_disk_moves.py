"""What disks add to the time of a drain."""

from datetime import timedelta

import pytest

from shared.core.cluster.pod import Pod, Volume
from shared.core.rules.drain_time import LONGEST_DISK_MOVES, disk_moves, disk_time
from tests.builders import mounts, pod


def disks(number: int, app: str = "db") -> list[Pod]:
    return [pod(f"{app}-{each}", owner=f"StatefulSet/{app}", volumes=mounts(f"data-{each}")) for each in range(number)]


@pytest.mark.parametrize(
    ("expected", "pods"),
    [
        pytest.param(0, [], id="nothing moves"),
        pytest.param(0, [pod("a", volumes=(Volume("tmp", "emptyDir"),))], id="no pod has a disk"),
        pytest.param(90, disks(1), id="one disk"),
        pytest.param(90, [pod("a", volumes=(Volume("tmp", "ephemeral"),))], id="one that is made for the pod"),
        pytest.param(90, [pod("a", volumes=mounts("data", "log"))], id="two of one pod move together"),
        pytest.param(180, disks(2), id="those of one workload move in turn"),
        pytest.param(90, [*disks(1), *disks(1, "queue")], id="those of two workloads move at once"),
        pytest.param(360, disks(9), id="a cordon has an end, however many"),
    ],
)
def test_a_deadline_gives_for_disks_what_their_workload_needs_in_turn(expected: float, pods: list[Pod]) -> None:
    assert disk_moves(pods) == timedelta(seconds=expected) <= LONGEST_DISK_MOVES


def test_a_replacement_with_a_disk_may_start_that_much_later() -> None:
    assert [disk_time(disk) for disk in (*disks(1), pod("web"))] == [timedelta(seconds=90), timedelta(0)]
