"""Many drains at once, in virtual time: what Ebb asks of the API server and of Firestore, and how soon they begin.

The worst case on purpose: all orders come at once, behind a push window that is wide open, calls take no time, and
each PodDisruptionBudget lets one pod of forty go, so that many evictions are refused at first and asked for again. The
autoscaler takes the drained nodes all at once, and the next pass settles all claims and orders as many more.

Writes are patches, evictions (refused ones too) and events. Dry-run evictions are counted apart: they write nothing,
and an order asks once for each of its pods. The figures are printed at the end of the run.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pytest

from shared.settings import Settings
from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.settled_worlds import SUBSCRIPTION
from tests.faults.worlds import Limits, setting, workload
from tests.measured_figures import MEASURED, busiest, sustained

IN_FLIGHT = 30
NODES, PODS, REPLICAS = 10, 8, 40
"""Nodes for each drain in flight, pods on a node, pods of a workload."""
SECONDS = 300.0
MOST_DOCUMENT_WRITES = 1
MOST_WRITES = {3: 7, 30: 22}
"""A second, by the drains in flight: with 30 of them the wave's hundred soft taints are ten of these."""
WRITING = frozenset({"POST", "PATCH", "PUT", "DELETE"})
Tell = Callable[[str, object], None]


@dataclass(frozen=True)
class Wide(Limits):
    """Production's times, and as many orders in one pass as may be in flight."""

    pool: int = IN_FLIGHT
    ceiling: int = IN_FLIGHT
    starts_per_hour: int = 200
    minimum_nodes: int = 200
    timeout: float = 510.0
    max_grace: float = 480.0
    watchdog: float = 1500.0

    def text(self, **changes: bool) -> str:
        return super().text(**changes).replace("maxNodesPerPass: 2", f"maxNodesPerPass: {self.pool}")


@pytest.fixture(
    scope="module", params=[pytest.param(3, id="30 nodes"), pytest.param(30, id="300 nodes", marks=pytest.mark.deep)]
)
def crowd(request: pytest.FixtureRequest) -> Installation:
    in_flight: int = request.param
    nodes = in_flight * NODES
    each = [
        workload(
            f"app{number}",
            [(number * REPLICAS + replica) % nodes for replica in range(REPLICAS)],
            cpu=130,  # above the autoscaler's gate, or it would take the nodes itself
            pdb={"maxUnavailable": 1},
        )
        for number in range(nodes * PODS // REPLICAS)
    ]
    limits = Wide(pool=in_flight, ceiling=in_flight, minimum_nodes=nodes * 2 // 3)
    base = History(setting(f"{nodes} nodes", each, nodes, limits, unneededTime=30))
    ebb = Installation(base.setting, base.seed, base.faults, base.message_faults, base.clock_skew)
    ebb.cloud.broker.subscribe(replace(SUBSCRIPTION, first_window=in_flight))
    ebb.call_gate.most_calls = 1_000_000
    ebb.live(SECONDS)
    ebb.threads.dismiss()
    assert most_claims(ebb) == in_flight, "the worst case has all drains in flight"
    return ebb


def most_claims(ebb: Installation) -> int:
    return max(len(entry["after"].claims) for entry in ebb.cloud.world.record.of("state"))


def test_the_api_server_gets_few_writes_a_second(crowd: Installation, record_property: Tell) -> None:
    """In each stretch of ten seconds; the busiest second is told."""
    most = MOST_WRITES[most_claims(crowd)]
    asked = [entry for entry in crowd.cloud.world.record.of("request") if entry["verb"] in WRITING and by_ebb(entry)]
    writes = [entry["at"] for entry in asked if not entry["dry_run"]]
    dry = [entry["at"] for entry in asked if entry["dry_run"]]
    record_property(MEASURED, figures(crowd, "writes", writes))
    record_property(MEASURED, figures(crowd, "dry-run evictions", dry))

    assert sustained(writes, 10) <= most
    assert sustained([*writes, *dry], 60) <= most


def test_each_document_gets_at_most_one_write_a_second(crowd: Installation, record_property: Tell) -> None:
    """In each stretch of a minute, attempts that somebody else's write made void included."""
    documents: dict[str, list[float]] = defaultdict(list)
    for call in crowd.call_gate.calls:
        if call.what.startswith("put "):
            documents[call.what].append(call.at)
    drains = (at for what, at in documents.items() if "drains" in what)
    record_property(MEASURED, figures(crowd, "writes of the cluster's document", documents["put cluster "]))
    record_property(
        MEASURED, figures(crowd, "writes of the busiest drain's", max(drains, key=lambda at: busiest(at, 60)))
    )

    assert {what for what, at in documents.items() if sustained(at, 60) > MOST_DOCUMENT_WRITES} == set()


def by_ebb(entry: dict[str, object]) -> bool:
    return str(entry["user_agent"]).startswith("ebb/")


def figures(crowd: Installation, what: str, times: Iterable[float]) -> str:
    at = list(times)
    rates = ", ".join(f"{seconds} s: {sustained(at, seconds):.1f}/s" for seconds in (10, 60))
    of = f"{crowd.setting.name}, {most_claims(crowd)} drains"
    return f"{of}: {what}: {len(at)} in {SECONDS:.0f} s, peak second {busiest(at, 1)}, busiest {rates}"


ORDERS, AMONG = 40, 100
"""Orders of one pass behind the push window, and the nodes that they are for."""
WINDOW_SECONDS = 150.0


@dataclass(frozen=True)
class Forty(Wide):
    pool: int = ORDERS
    ceiling: int = ORDERS
    minimum_nodes: int = 20


def test_forty_drains_are_under_way_within_two_minutes_and_no_node_is_ordered_twice(record_property: Tell) -> None:
    web = workload("web", list(range(AMONG)), cpu=120, pdb={"maxUnavailable": AMONG})
    base = History(setting("a hundred nodes", [web], AMONG, Forty(), enabled=False))
    ebb = Installation(base.setting, base.seed, base.faults, base.message_faults, base.clock_skew)
    ebb.settings = replace(ebb.settings, step_seconds=Settings(cluster="c").step_seconds)
    ebb.call_gate.most_calls = 1_000_000
    ebb.live(WINDOW_SECONDS)
    ebb.threads.dismiss()

    writes = ebb.cloud.world.record.of("state")
    reached = {len(entry["after"].claims): entry["at"] for entry in reversed(writes)}
    tens = {count: at - ebb.begun for count, at in sorted(reached.items()) if count % 10 == 0 < count}
    told = ", ".join(f"{count} after {at:.0f} s" for count, at in tens.items())
    record_property(MEASURED, f"100 nodes, 40 orders behind the push window: {told}")
    orders = [
        call.what for call in ebb.call_gate.calls if call.what.startswith("publish drain") and "tick" in call.actor
    ]
    assert ORDERS in reached
    assert reached[ORDERS] - ebb.begun <= 120
    assert len(orders) == len(set(orders)) == ORDERS
