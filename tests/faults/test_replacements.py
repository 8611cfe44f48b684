"""Others take room while Ebb works: what Ebb moved finds a place, or its node is given back, whatever the interval.

A rival is another team's Deployment that grows at any second between the picture and the end of the drain. The planner
ticks every five minutes and the autoscaler buys nothing, so nobody but the drain itself can help in time.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.faults.api_requests import ask
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.measured_waits import measured_waits
from tests.faults.oracle import judgement
from tests.faults.running import SUMS, Record, Sums, some
from tests.faults.waiting_times import MOST_UNSCHEDULABLE
from tests.faults.worlds import Limits, Setting, setting, workload
from tests.measured_figures import MEASURED

LIMITS = Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0, watchdog=900.0, interval=300.0)
OTHERS = [workload("b", [1], cpu=1450), workload("c", [2], cpu=1880)]


@dataclass(frozen=True)
class Scale:
    """Another team scales a Deployment."""

    name: str
    replicas: int

    def __call__(self, ebb: Installation) -> None:
        path = f"/apis/apps/v1/namespaces/default/deployments/{self.name}"
        ask(ebb, "rival", "PATCH", path, {"spec": {"replicas": self.replicas}})
        ebb.cloud.world.step()

    def __str__(self) -> str:
        return f"{self.name} wants {self.replicas}"


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
MOMENTS = tuple(step / 2 for step in range(80))
"""Every half second from the tick until well after the node is empty; a run that is not deep tries one of five."""


@pytest.mark.parametrize("setting", WORLDS, ids=lambda setting: setting.name)
def test_a_rival_at_any_moment_leaves_no_replacement_without_a_place(setting: Setting, record_property: Record) -> None:
    sums, longest, broken = Sums(), 0.0, list[str]()
    for at in some(MOMENTS, setting.name, 5):
        end = run(History(setting, acts=((at, Scale("rival", 1)),)))
        found = judgement(end)
        sums.add(found)
        longest = max([longest, *measured_waits(end)])
        broken += [f"rival at {at:g} s: {each}" for each in found.breaches]
    record_property(SUMS, sums.text())
    record_property(MEASURED, f"{setting.name}: a replacement waits {longest:.0f} s at most, whenever a rival comes")
    assert (broken, longest <= MOST_UNSCHEDULABLE) == ([], True), longest
