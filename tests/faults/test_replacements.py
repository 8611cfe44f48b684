"""Others take room while Ebb works: what Ebb moved finds a place, or its node is given back, whatever the interval.

A rival is another team's Deployment that grows at any second between the picture and the end of the drain. The planner
ticks every five minutes and the autoscaler buys nothing, so nobody but the drain itself can help in time. Where pods
are bound to zones by their disks, two and three drains move pods of one StatefulSet at once, and the right one gives
its node back.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.history import History, run
from tests.faults.oracle import judgement
from tests.faults.provider import scaled
from tests.faults.running import SUMS, Record, Sums, some
from tests.faults.waiting_times import MOST_UNSCHEDULABLE, measured_waits
from tests.faults.worlds import STAYS, Limits, Setting, disk, setting, workload
from tests.measured_figures import MEASURED

LIMITS = Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0, watchdog=900.0, interval=300.0)
OTHERS = [workload("b", [1], cpu=1450), workload("c", [2], cpu=1880)]


def world(name: str, *own: dict[str, Any], rival: int = 400) -> Setting:
    """Three nodes: what stands on the first fits, all told, only beside `b` on the second, where 480m are free."""
    return setting(name, [*own, *OTHERS, workload("rival", [], cpu=rival)], nodes=3, limits=LIMITS, enabled=False)


WORLDS = (
    world("one pod", workload("a", [0], cpu=400)),
    world("a slow end", workload("a", [0], cpu=400, shutdown=9)),
    world("a stateful pod", workload("a", [0], kind="StatefulSet", cpu=400)),
    world("a stateful pod with a slow end", workload("a", [0], kind="StatefulSet", cpu=400, shutdown=9)),
    world("two of one workload, in turns", workload("a", [0, 0], cpu=200), rival=200),
    world("two that start slowly, in turns", workload("a", [0, 0], cpu=200, readyAfter=9), rival=200),
    world("two workloads", workload("a", [0], cpu=200), workload("d", [0], cpu=200, pdb={"maxUnavailable": 1})),
    world("two under one budget", workload("a", [0, 0], cpu=200, pdb={"maxUnavailable": 1}), rival=200),
)
Workload = dict[str, Any]
DISK = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
ONE_AT_A_TIME = {"maxUnavailable": 1}


def slow_starts(nodes: list[int]) -> Workload:
    """Two pods a node that go in turns: their drains last longer than the set's pods wait."""
    return workload("slow", [node for node in nodes for _ in range(2)], cpu=100, readyAfter=9, pdb=ONE_AT_A_TIME)


def slow_ends(nodes: list[int]) -> Workload:
    return workload("slow", nodes, cpu=100, shutdown=9)


def zonal(name: str, zones: int, beside: Callable[[list[int]], Workload], **changes: Any) -> Setting:
    """Two nodes a zone: one with a StatefulSet's pod on a zonal disk goes; a rival takes the room on the other."""
    limits = Limits(
        pool=zones, ceiling=zones, minimum_nodes=1, pool_minimum=0, watchdog=900.0, interval=300.0, disk_moves=90.0
    )
    own = list(range(zones))
    stay = [workload(f"stay{zone}", [zones + zone], cpu=1000, **STAYS) for zone in own]
    rivals = [
        workload(f"rival{zone}", [], cpu=600,
                 pod={"nodeSelector": {"topology.kubernetes.io/zone": f"europe-west4-{'abc'[zone]}"}})
        for zone in own
    ]  # fmt: skip
    moved = workload("db", own, kind="StatefulSet", cpu=500, claims=[DISK], **changes)
    return setting(
        name, [moved, beside(own), *stay, *rivals], nodes=2 * zones, limits=limits, zones=zones, enabled=False,
        manifests=tuple(thing for zone in own for thing in disk(f"data-db-{zone}", f"europe-west4-{'abc'[zone]}")),
    )  # fmt: skip


ZONAL = (
    zonal("two zones under one budget", 2, slow_starts, pdb=ONE_AT_A_TIME),
    zonal("two zones without a budget", 2, slow_starts),
    zonal("two zones at once", 2, slow_starts, pdb={"maxUnavailable": 2}),
    zonal("two zones with slow ends", 2, slow_ends, shutdown=9, pdb=ONE_AT_A_TIME),
    zonal("three zones under one budget", 3, slow_starts, pdb=ONE_AT_A_TIME),
    zonal("three zones in parallel", 3, slow_starts, pdb={"maxUnavailable": 3},
          controller={"podManagementPolicy": "Parallel"}),
)  # fmt: skip
MOMENTS = tuple(step / 2 for step in range(80))
"""Every half second from the tick until well after the node is empty; a run that is not deep tries one of five."""
ZONAL_MOMENTS = tuple(map(float, range(70)))
"""These drains last longer; a run that is not deep tries one of ten."""
CASES = [(world, "rival", MOMENTS, 5) for world in WORLDS] + [
    (world, rival.name, ZONAL_MOMENTS, 10)
    for world in ZONAL
    for rival in world.scenario.workloads
    if rival.name.startswith("rival")
]


@pytest.mark.parametrize(
    ("setting", "rival", "moments", "of"), [pytest.param(*row, id=f"{row[0].name}: {row[1]}") for row in CASES]
)
def test_a_rival_at_any_moment_leaves_no_replacement_without_a_place(
    setting: Setting, rival: str, moments: tuple[float, ...], of: int, record_property: Record
) -> None:
    name, sums, longest, broken = f"{setting.name}: {rival}", Sums(), 0.0, list[str]()
    for at in some(moments, name, of):
        end = run(History(setting, acts=((at, scaled(rival, 1)),)))
        found = judgement(end)
        sums.add(found, "drains of one workload")
        longest = max([longest, *measured_waits(end)])
        broken += [f"{rival} at {at:g} s: {breach}" for breach in found.breaches]
    record_property(SUMS, sums.text())
    record_property(MEASURED, f"{name}: a replacement waits {longest:.0f} s at most, whenever it comes")
    assert (broken, longest <= MOST_UNSCHEDULABLE) == ([], True), longest
