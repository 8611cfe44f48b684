"""Real drains where Deployments are bound by hard rules: the real scheduler finds a place for every pod that moves."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from infra.local.demo.evidence import Evidence, limits_of
from tests.fixtures_real import NewControlPlane
from tests.measured_figures import MEASURED
from tests.real.audit_record import entries, granted
from tests.real.control_plane import ControlPlane
from tests.real.installation import NO_BUDGET, Installation, Memory, RealServices, policy_text
from tests.real.nights import longest_wait, node_names, tainted
from tests.real.promise import breaches
from tests.real.rich_cluster import NAMESPACE, NODES, POOLS, is_calm, populate
from tests.real.waiting import until
from tests.real.watches import Watch

GONE = 16
"""Of sixty nodes; all that Ebb would free takes longer and shows nothing more."""
IN_FLIGHT = 6
MOST_SECONDS = 900.0
pytestmark = [pytest.mark.control_plane, pytest.mark.deep, pytest.mark.timeout(60 + MOST_SECONDS)]
TICK_EVERY = 60.0
LIMITS = {"minimumNodes": 20, "rate": {"nodes": 2000, "per": "1h"}}
DRAIN = {"timeout": "4m", "maxGracePeriod": "5s", "watchdog": "60s", "pendingGrace": "20s"}
policy = partial(policy_text, "rich", IN_FLIGHT, DRAIN, maxNodesPerPass=IN_FLIGHT)
Prepared = tuple[Installation, ControlPlane, Watch]


@pytest.fixture
def prepared(new_control_plane: NewControlPlane, services_on: Callable[..., RealServices]) -> Iterator[Prepared]:
    with new_control_plane() as plane, Watch(plane.proxy_url) as watch:
        populate(plane.api)
        with Installation(services_on(plane, "ebb-rich"), policy(LIMITS), POOLS, hands=IN_FLIGHT) as ebb:
            yield ebb, plane, watch


def test_no_pod_bound_by_hard_rules_is_left_without_a_place(
    prepared: Prepared, record_property: Callable[[str, object], None]
) -> None:
    ebb, plane, watch = prepared
    memory, first = Memory(ebb), {pod["metadata"]["uid"] for pod in plane.api.pods(NAMESPACE)}
    until(f"{GONE} nodes gone", lambda: ebb.tick() and len(node_names(plane)) <= NODES - GONE, MOST_SECONDS)
    ebb.bucket.put("policies", "policy.yaml", policy(LIMITS | NO_BUDGET).encode())
    until("every drain settled", lambda: ebb.tick() and memory.is_at_rest(), MOST_SECONDS)
    until("every pod ready", lambda: is_calm(plane.api))
    watch.stop()

    audit = plane.audit()
    evidence = Evidence(entries=entries(watch.seen(), audit), limits=limits_of(policy(LIMITS), TICK_EVERY), passes=())
    assert breaches(evidence, audit, plane.api.budgets(NAMESPACE)) == []
    assert tainted(plane) == []
    left, moved = len(node_names(plane)), len(granted(audit))
    waited = f"{moved} pods moved, the longest {longest_wait(watch.seen(), first):.1f} s without a node"
    record_property(MEASURED, f"rich cluster: {left} nodes of {NODES} left, {waited}")
