"""One pass over a large cluster, against reading the same cluster's pods."""

from collections import Counter
from datetime import timedelta
from fractions import Fraction
from typing import Final

import msgspec

from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.prices import load
from shared.adapters.process import no_search_for_cycles
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Budget, Limit, Policy, PoolPolicy
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.port_types import ClusterReading, PoolsReading
from shared.store.snapshots import pools_by_label, snapshot_of
from tests.bench import pages, reading
from tests.builders import CLUSTER, NOW, policy
from tests.measured_figures import say, timed

A_DAY: Final = timedelta(days=1)


def run(*, quick: bool) -> None:
    for nodes, pods in ((1_000, 30_000),) if quick else ((1_000, 30_000), (5_000, 150_000)):
        decoding, _, found = reading.read(nodes, pods)
        rows = [node_objects.node(_decoded(row)) for row in pages.nodes(nodes)]
        pools = PoolsReading(pools_by_label(rows), known=True, profile="BALANCED")
        snapshot = snapshot_of(CLUSTER, ClusterReading(tuple(rows), tuple(found), (), {"default": {}}), pools, NOW, NOW)
        planning, orders = _planned(snapshot, NO_COMMITMENTS)
        what = f"{nodes:,} nodes, {pods:,} pods: make_plan ({orders} orders) / decode"
        say(what, f"{planning:.2f} s / {decoding:.2f} s = {planning / decoding:.2f}", "3 at most")
        again, committed = min(planning, _planned(snapshot, NO_COMMITMENTS)[0]), _committed(snapshot)
        by_bill = min(_planned(snapshot, committed)[0] for _ in range(2))
        what = f"{nodes:,} nodes, {pods:,} pods: make_plan by the bill / by list prices"
        say(what, f"{by_bill:.2f} s / {again:.2f} s = {by_bill / again:.2f}", "1.10 at most")


def _committed(snapshot: Snapshot) -> Commitments:
    """Return commitments for a fifth of all that the nodes have, and one that covers any family."""
    sizes = Counter[str]()
    prices = load()
    for node in snapshot.nodes:
        if size := prices.size(node.machine):
            sizes[f"{size[0]} vcpu"] += int(size[1].vcpu)
            sizes[f"{size[0]} gib"] += int(size[1].gib)
    rows = (
        Commitment(each, Capacity(*(Fraction(sizes[f"{each} {axis}"], 5) for axis in ("vcpu", "gib"))), NOW + A_DAY)
        for each in sorted({name.split()[0] for name in sizes})
    )
    return Commitments(tuple(rows), FlexibleCommitment(Fraction(1), Fraction("0.28"), NOW + 2 * A_DAY))


def _planned(snapshot: Snapshot, commitments: Commitments) -> tuple[float, int]:
    one = policy(max_nodes_per_pass=20, budgets=(Budget(Limit(percent=10)),))
    pools = dict.fromkeys(snapshot.nodes_by_pool, _open(one))
    rules = Policy(**{**vars(one), "pools": pools, "commitments": commitments})
    with no_search_for_cycles():  # as the planner does
        seconds, plan = timed(lambda: make_plan(Situation(snapshot, ClusterState(), rules), {}, load()))
    return seconds, len(plan.orders)


def _open(rules: Policy) -> PoolPolicy:
    return rules.pool("a")


def _decoded(row: dict[str, object]) -> wire.Node:
    return msgspec.json.decode(msgspec.json.encode(row), type=wire.Node)
