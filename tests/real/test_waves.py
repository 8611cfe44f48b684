"""One night on a real control plane with the default scheduler, with waves and without (docs/decisions/waves.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Final

import pytest

from infra.local.world.pods import is_ready, taints_of
from shared.core.cluster.names import HELD_TAINT
from tests.depth import cases
from tests.fixtures_real import NewControlPlane
from tests.measured_figures import MEASURED
from tests.real.audit_record import granted, uid_asked_for
from tests.real.control_plane import MERGE_PATCH, ControlPlane
from tests.real.control_plane.manifests import deployment, disruption_budget, nodes, paced
from tests.real.installation import Installation, Memory, RealServices, policy_text, simulated_pool
from tests.real.nights import MOST_WAITING, is_bound, longest_wait, node_names, run_pass
from tests.real.waiting import until
from tests.real.watches import Watch

NODES, APPS, BY_DAY, REPLICAS, AT_ONCE = 60, 60, 16, 10, 6
GONE: Final = 18
"""Nodes after which the night ends: three tenths, the size of the wave."""
SECONDS, TO_END = 200.0, 120.0
"""The longest night, and the time that its last drains have."""
POOLS: Final = {"night": simulated_pool("night", 5, 90)}
PASSES: Final = {"minimumNodes": 5}
WAVES: Final = {**PASSES, "wave": {"nodes": "30%", "deadline": "90m"}}
DRAIN: Final = {"timeout": "2m", "watchdog": "2m"}
policy = partial(
    policy_text, "night", AT_ONCE, DRAIN, scaleDownCPURequestRatioLimit=1, scaleDownMemoryRequestRatioLimit=1,
    scaleDownRequiredUnderutilizedNodeCount=1, maxNodesPerPass=AT_ONCE,
)  # fmt: skip
pytestmark = [pytest.mark.control_plane, pytest.mark.deep, pytest.mark.timeout(2 * (SECONDS + TO_END))]


@dataclass(frozen=True)
class Night:
    gone: int
    bought: int
    evictions: int
    twice: int
    """Evictions of pods that an eviction had made."""
    waited: float
    """The longest time of a pod without a node, in seconds."""
    held: int
    """Nodes that carry the soft taint at the end."""

    @property
    def a_node(self) -> float:
        return self.evictions / self.gone

    def __str__(self) -> str:
        return (
            f"{self.gone} nodes gone, {self.a_node:.2f} evictions a node, {self.twice} pods moved twice, "
            f"longest without a node {self.waited:.0f} s, {self.bought} nodes bought, {self.held} soft taints left"
        )


@cases("limits", ("passes", PASSES), ("waves", WAVES))
def test_no_pod_waits_and_no_node_is_bought_in_a_night(
    limits: Mapping[str, object],
    new_control_plane: NewControlPlane,
    services_on: Callable[..., RealServices],
    record_property: Callable[[str, object], None],
) -> None:
    """The two lines are there to be compared: a wave needs fewer evictions a node, and moves fewer pods twice."""
    database = "ebb-waves" if limits is WAVES else "ebb-passes"
    with new_control_plane() as plane, Watch(plane.proxy_url) as watch:
        found = night(plane, watch, services_on(plane, database), limits)
    record_property(MEASURED, f"{database}: {found}")

    assert (found.bought, found.held) == (0, 0)
    assert found.waited <= MOST_WAITING
    assert found.gone >= GONE // 2


def night(plane: ControlPlane, watch: Watch, services: RealServices, limits: Mapping[str, object]) -> Night:
    """Let passes follow each other until so many nodes are gone, and wait for the drains that have begun."""
    populate(plane)
    before, first = node_names(plane), {pod["metadata"]["uid"] for pod in plane.api.pods()}
    with Installation(services, policy(limits), POOLS, {"EBB_STEP_SECONDS": "15"}, hands=2 * AT_ONCE) as ebb:
        begun = monotonic()
        while len(before - node_names(plane)) < GONE and monotonic() - begun < SECONDS:
            run_pass(ebb)
        ebb.bucket.put("policies", "policy.yaml", policy(limits, paused=True).encode())
        until("every drain ended", lambda: run_pass(ebb) and Memory(ebb).is_at_rest() and not held(plane), TO_END)
    until(
        "every pod running", lambda: len(plane.api.pods()) == APPS * REPLICAS and all(map(is_bound, plane.api.pods()))
    )
    watch.stop()
    evicted = [uid_asked_for(entry) for entry in granted(plane.audit())]
    after = node_names(plane)
    return Night(
        gone=len(before - after),
        bought=len(after - before),
        evictions=len(evicted),
        twice=sum(uid not in first for uid in evicted),
        waited=longest_wait(watch.seen(), first),
        held=len(held(plane)),
    )


def populate(plane: ControlPlane) -> None:
    """Fill the nodes to 88 % with pods of five sizes, and scale in to 55 %; each app lets two pods go at a time."""
    plane.api.create(nodes(NODES, pool="night"))
    for number, name in enumerate(names := [f"app-{number}" for number in range(APPS)]):
        app = deployment(name, replicas=BY_DAY, cpu=f"{75 + 70 * (number % 5)}m", memory="300Mi", grace=2)
        plane.api.create([paced(app, readiness="1s"), disruption_budget(name, maxUnavailable=2)])
    until("every pod ready", lambda: sum(map(is_ready, plane.api.pods())) == APPS * BY_DAY)
    for name in names:
        path = f"/apis/apps/v1/namespaces/default/deployments/{name}"
        plane.api.request("PATCH", path, {"spec": {"replicas": REPLICAS}}, MERGE_PATCH)
    until("the scale-in", lambda: len(plane.api.pods()) == APPS * REPLICAS)


def held(plane: ControlPlane) -> list[str]:
    rows = plane.api.nodes()
    return [row["metadata"]["name"] for row in rows if any(taint["key"] == HELD_TAINT for taint in taints_of(row))]
