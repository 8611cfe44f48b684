"""What of commitments is used now and in steady state, and what Ebb adds once they have ended."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from functions.cli.analysis.forecast.scenarios import committed_of, rows_of, scenarios_of
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.search import LITTLE
from shared.core.planning.bill import Bill
from shared.core.policy import Policy
from shared.core.policy.values import FLEXIBLE, Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, resources
from tests.cli.analysis.forecast.test_scenarios import OPEN
from tests.depth import cases

PRICES = load()
ENDS = NOW + timedelta(days=100)
HALF = Fraction(1, 2)


def committed(vcpu: int, **changes: object) -> Commitments:
    """So many vCPUs of e2 with four GiB each, at half their price."""
    size = Capacity(Fraction(vcpu), Fraction(4 * vcpu))
    return Commitments((Commitment("e2", size, ENDS, HALF),), **{"elsewhere": {}, **changes})  # type: ignore[arg-type]


def machines(count: int) -> Sequence[Node]:
    return [node(f"n{number}") for number in range(count)]


def bill(commitments: Commitments, count: int = 4) -> Bill:
    return Bill.of(PRICES, commitments, machines(count), NOW)


@cases(
    "vcpus, idle, nodes",
    ("more nodes than are committed: all of it, nothing is idle", 12, 0, 4),
    ("two of three nodes' worth: a third is idle", 8, Fraction(1, 3), 2),
    ("no node: all is idle", 0, 1, 0),
)
def test_what_of_a_commitment_is_used(vcpus: int, idle: Fraction, nodes: int) -> None:
    (row,) = rows_of(bill(committed(12)), machines(nodes))

    assert row.now.used == Capacity(Fraction(vcpus), Fraction(4 * vcpus))
    assert abs(row.now.idle - idle * row.fee) <= LITTLE


@cases(
    "idle, nodes",
    ("two nodes are left for money for two", 0, 4),
    ("one is left: half of it", HALF, 3),
    ("all are of the family that is committed: nothing is left to cover", 1, 2),
)
def test_a_flexible_commitment_covers_what_the_others_leave(idle: Fraction, nodes: int) -> None:
    price = Fraction(PRICES.of(node("n")).per_hour, 10**6)
    flexible = FlexibleCommitment(2 * price * Fraction(7, 10), Fraction(3, 10), ENDS)
    *_, row = rows_of(bill(committed(8, flexible=flexible)), machines(nodes))

    assert (row.family, row.size, row.until) == (FLEXIBLE, None, ENDS)
    assert abs(row.now.idle - idle * row.fee) <= LITTLE


def test_a_steady_state_has_its_own_use() -> None:
    now = Situation(cluster(machines(4)), ClusterState(), policy_with(committed(12)))
    found = committed_of(now, PRICES, cluster(machines(1)))

    assert found
    (row,) = found.rows
    assert row.at_rest
    assert (row.now.used, row.at_rest.used) == (
        Capacity(Fraction(12), Fraction(48)),
        Capacity(Fraction(4), Fraction(16)),
    )


def nearly_empty() -> Snapshot:
    """Six nodes whose pods have room on two; none is used so little that the autoscaler takes it."""
    rows = [(number, at) for number in range(6) for at in range(3)]
    pods = [pod(f"p{number}-{at}", on=f"n{number}", cpu=0.7, owner=f"ReplicaSet/w{at}") for number, at in rows]
    return cluster(machines(6), pods)


def policy_with(commitments: Commitments) -> Policy:
    pools = {"a": replace(OPEN.pools["a"], cpu_limit=Fraction(1), memory_limit=Fraction(1))}
    return replace(OPEN, pools=pools, commitments=commitments)


def test_what_ebb_adds_from_an_end_on_is_by_the_bill_of_then() -> None:
    situation = Situation(nearly_empty(), ClusterState(), policy_with(committed(24)))
    found = scenarios_of(find_steady_state(situation, {}, PRICES, assume_marked=True))
    (later,) = found.later

    assert (later.at, later.families) == (ENDS, ("e2",))
    assert later.added == PRICES.cost_of(machines(found.alone.nodes)) - PRICES.cost_of(machines(later.nodes)) > 0
    assert found.now.bill == found.at_rest.bill


def test_nothing_is_committed_without_commitments_or_after_their_end() -> None:
    for commitments in (Commitments(), committed(8)):
        late = replace(nearly_empty(), taken_at=ENDS)
        assert committed_of(Situation(late, ClusterState(), policy_with(commitments)), PRICES) is None


def test_what_is_not_known_of_other_machines_is_kept() -> None:
    situation = Situation(nearly_empty(), ClusterState(), policy_with(committed(8, elsewhere=None)))
    found = committed_of(situation, PRICES)

    assert found
    assert not found.use_elsewhere_is_known


def test_the_potential_is_by_the_bill_and_takes_no_node_that_a_commitment_pays_for() -> None:
    every = Situation(nearly_empty(), ClusterState(), policy_with(committed(24)))
    most = Situation(nearly_empty(), ClusterState(), policy_with(committed(20)))

    assert potential(every, PRICES).nodes == ()
    found = potential(most, PRICES)
    assert len(found.nodes) == 1
    assert found.saving == pytest.approx(PRICES.cost_of(machines(1)), abs=LITTLE)


def test_a_pod_that_has_moved_takes_there_what_it_came_back_with() -> None:
    grown = pod("p", on="n1", cpu=3, memory=1, booked=resources(1, 1))
    before = cluster([node("n1"), node("n2")], [grown])
    (moved,) = before.without({"n1"}, {grown.key: "n2"}).pods

    assert (grown.requests, moved.node, moved.requests) == (resources(1, 1), "n2", resources(3, 1))


def test_a_snapshot_after_drains_knows_its_pods_like_one_made_of_them_and_keeps_untouched_nodes() -> None:
    rows = [pod("a", on="n1"), pod("b", on="n2"), pod("c", on="n3"), pod("daemon", on="n1", owner="DaemonSet/daemon")]
    before = cluster([node("n1"), node("n2"), node("n3")], rows)
    after = before.without({"n1"}, {rows[0].key: "n2"})

    fresh = replace(after)
    assert dict(after.pods_by_node) == dict(fresh.pods_by_node)
    assert after.pods_by_node["n3"] is before.pods_by_node["n3"]
