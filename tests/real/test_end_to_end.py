"""The whole loop on real parts: tick → plan → order → push → cordon → evict → the autoscaler deletes → settled."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.core.records.drain_record import DrainPhase
from tests.depth import DEEP
from tests.fixtures_real import NewControlPlane
from tests.real import neighbours
from tests.real.audit_record import about, at
from tests.real.control_plane import ControlPlane
from tests.real.installation import NO_BUDGET, Installation, Memory, RealServices
from tests.real.least_rights import TARGETS, least_rights, user
from tests.real.nights import node_names, tainted
from tests.real.shop_cluster import APPS, LIMITS, POOLS, REPLICAS, policy, populate, ready_pods
from tests.real.waiting import until

WANTED = 3
SECONDS = 300.0
pytestmark = [pytest.mark.control_plane, pytest.mark.timeout(3 * SECONDS)]
OURS = "ebb"
PACE = {} if DEEP else {"readiness": "1s"}


@pytest.fixture
def ebb(
    new_control_plane: NewControlPlane, services_on: Callable[..., RealServices]
) -> Iterator[tuple[Installation, ControlPlane]]:
    """A cluster of its own, because this test deletes nodes; both functions have the rights of infra/rbac.yaml only."""
    with new_control_plane() as plane:
        populate(plane.api, **PACE)
        neighbours.add(plane.api)
        services = services_on(plane, kubeconfigs=least_rights(plane))
        with Installation(services, policy(LIMITS, jobs="move"), POOLS) as installation:
            yield installation, plane


def test_nodes_are_drained_deleted_and_settled_and_every_pod_runs(ebb: tuple[Installation, ControlPlane]) -> None:
    installation, plane = ebb
    before, memory = node_names(plane), Memory(installation)
    installation.tick()
    order_a_late_move(installation, plane)

    until(f"{WANTED} nodes gone", lambda: ticked(installation, plane, before) and late_moves(memory), SECONDS)
    installation.bucket.put("policies", "policy.yaml", policy(LIMITS | NO_BUDGET, jobs="move").encode())
    until("every drain settled", lambda: installation.tick() and memory.is_at_rest(), SECONDS)

    until("every pod running", lambda: len(ready_pods(plane.api)) == APPS * REPLICAS)
    until("every pod that is replaced late", lambda: len(neighbours.running(plane.api)) == 2 * neighbours.REPLICAS)
    installation.tick()  # the marks of the node that went last go with the first pass that misses it
    assert tainted(plane) == ["suspended"]
    assert_neighbours_were_left_alone(before, plane)
    assert_no_drain_was_over_before_what_it_moved_lived_again(memory, plane)
    assert_firestore_is_clean(memory)
    assert_the_record_is_honest(plane.audit())


def order_a_late_move(installation: Installation, plane: ControlPlane) -> None:
    """Let a person drain a node with a pod of the StatefulSet: the planner may be done without any of them."""
    places = [pod["spec"]["nodeName"] for pod in neighbours.running(plane.api) if is_late(pod["metadata"]["name"])]
    installation.publish({"node": next(place for place in places if place != neighbours.MAINTAINED)})


def is_late(name: str) -> bool:
    return name.startswith("db-")


def assert_neighbours_were_left_alone(before: set[str], plane: ControlPlane) -> None:
    """Nothing was written on them, and a machine that is suspended, not Ready, used up no budget."""
    theirs = {node["metadata"]["name"] for node in neighbours.nodes()} | {neighbours.MAINTAINED}
    assert theirs <= before & node_names(plane)
    ours = [entry for entry in plane.audit() if entry.get("userAgent") == OURS]
    assert not theirs & {about(entry).get("name") for entry in ours if entry["verb"] == "patch"}


def assert_no_drain_was_over_before_what_it_moved_lived_again(memory: Memory, plane: ControlPlane) -> None:
    """Where the next pod is made only once the old one has ended, too; by the scheduler's own bindings.

    A Job's pods are not counted (docs/limits.md): they are only seen to run again in the end.
    """
    bound = [
        (about(entry)["name"], at(entry)) for entry in plane.audit() if about(entry).get("subresource") == "binding"
    ]
    moved = late_moves(memory)
    late = [move for move in moved if not any(move[0] == name and move[1] < when <= move[2] for name, when in bound)]
    assert moved
    assert late == []


def late_moves(memory: Memory) -> list[tuple[str, float, float]]:
    """Return the pods of the StatefulSet that drains have moved, when each was evicted, and when its drain was over."""
    return [
        (key.partition("/")[2], pod.at.timestamp(), drain.drained_at.timestamp())
        for drain in memory.records()
        if drain.drained_at
        for key, pod in drain.pods.items()
        if key.startswith(f"{neighbours.NAMESPACE}/") and is_late(key.partition("/")[2])
    ]


def ticked(installation: Installation, plane: ControlPlane, before: set[str]) -> bool:
    installation.tick()
    return len(before - node_names(plane)) >= WANTED


def assert_firestore_is_clean(memory: Memory) -> None:
    """No claim, no lease, no drain that is not settled, no mark of a node that is gone."""
    drains = memory.records()
    removed = {drain.order.node for drain in drains if drain.outcome == "removed"}
    assert len(removed) >= WANTED
    assert {(drain.phase, drain.lease) for drain in drains} == {(DrainPhase.SETTLED, None)}
    assert memory.state().claims == {}
    assert memory.state().planner is None
    assert not removed & {mark.name for pool in memory.pools() for mark in pool.marks.values()}


def assert_the_record_is_honest(audit: list[dict[str, Any]]) -> None:
    """Evictions stand in the API's own record; Ebb was refused nothing, deleted nothing, and cordoned first."""
    ours = [entry for entry in audit if entry.get("userAgent") == OURS]
    assert {entry["user"]["username"] for entry in ours} == {user(name) for name in TARGETS.values()}
    assert [entry for entry in ours if entry["responseStatus"]["code"] == 403] == []
    evictions = [entry for entry in ours if about(entry).get("subresource") == "eviction"]
    real = [entry for entry in evictions if "dryRun" not in entry["requestURI"]]
    granted = [entry for entry in real if entry["responseStatus"]["code"] == 201]
    assert granted
    assert len(real) < len(evictions), "every eviction is tried dry first"
    assert [entry for entry in ours if entry["verb"].startswith("delete")] == []
    cordons = [entry for entry in ours if entry["verb"] == "patch" and about(entry).get("resource") == "nodes"]
    assert min(entry["requestReceivedTimestamp"] for entry in cordons) < min(
        entry["requestReceivedTimestamp"] for entry in granted
    )
