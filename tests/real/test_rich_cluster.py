"""Real drains where Deployments are bound by hard rules: the real scheduler finds a place for every pod that moves."""

from collections.abc import Callable, Iterator

import pytest

from infra.local.demo.evidence import Evidence, limits_of, pdb_rules_of
from tests.fixtures_real import NewControlPlane
from tests.measured_figures import MEASURED
from tests.real.audit_record import entries, granted
from tests.real.control_plane import ControlPlane
from tests.real.installation import Installation, Memory, RealServices
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
POLICY = f"""
dryRun: false
cluster:
  minimumNodes: 20
  timeSinceLastAddition: 0s
  timeGap: 0s
  disruption: {{budgets: [{{nodes: {IN_FLIGHT}}}]}}
  rate: {{nodes: 2000, per: 1h}}
drain: {{timeout: 4m, maxGracePeriod: 5s, watchdog: 60s, pendingGrace: 20s}}
nodePools:
  rich:
    enabled: true
    minimumNodeAge: 0s
    excessNodesThreshold: 0
    maxNodesPerPass: {IN_FLIGHT}
    disruption: {{consolidateAfter: 1s, expireAfter: Never, budgets: [{{nodes: {IN_FLIGHT}}}]}}
"""
NO_MORE = POLICY.replace(f"budgets: [{{nodes: {IN_FLIGHT}}}]", "budgets: [{nodes: 0}]", 1)
Prepared = tuple[Installation, ControlPlane, Watch]


@pytest.fixture
def prepared(new_control_plane: NewControlPlane, services_on: Callable[..., RealServices]) -> Iterator[Prepared]:
    with new_control_plane() as plane, Watch(plane.proxy_url) as watch:
        populate(plane.api)
        with Installation(services_on(plane, "ebb-rich"), POLICY, POOLS, hands=IN_FLIGHT) as ebb:
            yield ebb, plane, watch


def test_no_pod_bound_by_hard_rules_is_left_without_a_place(
    prepared: Prepared, record_property: Callable[[str, object], None]
) -> None:
    ebb, plane, watch = prepared
    memory, first = Memory(ebb), {pod["metadata"]["uid"] for pod in plane.api.pods(NAMESPACE)}
    until(f"{GONE} nodes gone", lambda: ebb.tick() and len(node_names(plane)) <= NODES - GONE, MOST_SECONDS)
    ebb.bucket.put("policies", "policy.yaml", NO_MORE.encode())
    until("every drain settled", lambda: ebb.tick() and memory.is_at_rest(), MOST_SECONDS)
    until("every pod ready", lambda: is_calm(plane.api))
    watch.stop()

    audit = plane.audit()
    evidence = Evidence(
        entries=entries(watch.seen(), audit),
        pdb_rules=pdb_rules_of(plane.api.budgets(NAMESPACE), plane.api.deployments(NAMESPACE)),
        limits=limits_of(POLICY, TICK_EVERY),
        passes=(),
    )
    assert breaches(evidence, audit) == []
    assert tainted(plane) == []
    left, moved = len(node_names(plane)), len(granted(audit))
    waited = f"{moved} pods moved, the longest {longest_wait(watch.seen(), first):.1f} s without a node"
    record_property(MEASURED, f"rich cluster: {left} nodes of {NODES} left, {waited}")
