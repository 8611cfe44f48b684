"""A breaker opens where a pod that we moved finds no place, and nowhere else."""

from datetime import timedelta

import pytest

from shared.core.breakers import OPEN_FOR, stranded
from shared.core.snapshot import Pod
from shared.core.state import Breaker, DrainRecord, PodProgress
from tests.builders import NOW, claim, cluster, node, order, pod

MOVED = {"default/old": PodProgress(uid="u", answer="granted", owner="default/ReplicaSet/web", at=NOW)}


def waits(owner: str = "ReplicaSet/web", seconds: int = 61) -> Pod:
    return pod("new", owner=owner, unschedulable_since=NOW - timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("expected", "pods"),
    [
        pytest.param(["a"], [waits()], id="a replacement waits longer than its grace"),
        pytest.param([], [waits(seconds=60)], id="within its grace it may still be placed"),
        pytest.param([], [waits(owner="ReplicaSet/other")], id="a pod of a workload that we did not touch"),
        pytest.param([], [], id="nothing waits"),
    ],
)
def test_a_breaker_opens_for_a_stranded_replacement(expected: list[str], pods: list[Pod]) -> None:
    records = {"order": DrainRecord(order=order(), pods=MOVED)}

    opened = stranded(cluster([node("n1")], pods), [claim("n1")], records, NOW)

    assert expected == list(opened)
    assert all(each == Breaker(NOW + OPEN_FOR, "default/new found no place after a drain") for each in opened.values())
