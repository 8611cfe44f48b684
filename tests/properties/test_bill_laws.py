"""Laws of money by the bill: what the search finds, what a pass orders, and what no plan can do better than."""

from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from functions.cli.analysis.forecast.bound import bound
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, SearchResult, Simulation, search
from shared.core.placement.search import LITTLE
from shared.core.planning.bill import Savings
from shared.core.planning.candidates import assess_nodes
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan, Verdict
from shared.core.policy import Limit, Policy, PoolPolicy
from shared.core.policy.values import NO_COMMITMENTS, Capacity, Commitment, Commitments, FlexibleCommitment, WaveLimits
from shared.core.reasons import DrainReason, Unremovable
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.situation import Situation
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.builders import NOW, committed
from tests.core.planning.passes import MINUTE
from tests.depth import DEEP, examples

PRICES = load()
MACHINES = (("n2-standard-8", "e2-standard-4"), ("e2-standard-4", "n2-highmem-2", "n2-standard-8"))
SOME = examples(250 if DEEP else 100)
OF_A_PART = examples(125 if DEEP else 100)
PARTS, SEEDS = 4 if DEEP else 1, 10_000
"""A deep run has five hundred clusters for the first law, in parts that each end within a test's time."""


@dataclass(frozen=True)
class Drawn:
    """What a cluster is generated from."""

    nodes: int
    mix: Mix
    fill: float
    seed: int
    machines: tuple[str, ...]

    def snapshot(self, part: int = 0) -> Snapshot:
        """Return the cluster; each part has others, because a run draws the same for each."""
        seed = self.seed + part * SEEDS
        return snapshot_of(
            generated(self.nodes, self.mix, fill=self.fill, pods_a_node=5, seed=seed, machines=self.machines)
        )


def drawn_clusters() -> st.SearchStrategy[Drawn]:
    return st.builds(
        Drawn,
        nodes=st.integers(3, 10),
        mix=st.sampled_from((Mix.PLAIN, Mix.RICH)),
        fill=st.sampled_from((0.25, 0.4, 0.55, 0.7)),
        seed=st.integers(0, SEEDS - 1),
        machines=st.sampled_from(MACHINES),
    )


def snapshots() -> st.SearchStrategy[Snapshot]:
    return drawn_clusters().map(Drawn.snapshot)


@st.composite
def commitments_(draw: st.DrawFn) -> Commitments:
    """Up to all that such a cluster could use; a flexible one in some cases."""
    sizes = {name: (draw(st.integers(0, 80)), draw(st.integers(0, 320))) for name in ("n2", "e2")}
    rows = (Commitment(name, Capacity(Fraction(vcpu), Fraction(gib))) for name, (vcpu, gib) in sizes.items())
    cents = draw(st.sampled_from((0, 0, 20, 100)))
    flexible = FlexibleCommitment(Fraction(cents, 100), Fraction("0.28")) if cents else None
    return Commitments(tuple(row for row in rows if draw(st.booleans())), flexible)


def found_in(snapshot: Snapshot, savings: Savings) -> SearchResult:
    """Return what the search finds of the nodes that may go by the rules of safety."""
    situation, bill = Situation(snapshot, ClusterState(), Policy()), savings.bill
    rows = [node.node for node in assess_nodes(situation, SAFETY_RULES) if node.is_candidate]
    candidates = [
        Candidate(node.name, PRICES.of(node).per_hour, len(situation.moving(node.name)), amounts=bill.amounts(node))
        for node in rows
    ]
    return search(Simulation.of(snapshot, robust=False), candidates, lost=savings.lost)


@pytest.mark.parametrize("part", range(PARTS))
@OF_A_PART
@given(drawn_clusters(), commitments_())
def test_no_bill_is_higher_than_by_prices_alone_or_lower_than_the_bound(
    part: int, drawn: Drawn, commitments: Commitments
) -> None:
    snapshot = drawn.snapshot(part)
    savings, by_price = (Savings.among(snapshot.nodes, (), PRICES, row, NOW) for row in (commitments, NO_COMMITMENTS))
    by_bill, blind = found_in(snapshot, savings), found_in(snapshot, by_price)
    nodes = snapshot.node_by_name
    saved = [savings.saving_of(nodes[name] for name in row.nodes) for row in (by_bill, blind)]

    assert by_bill.saving == saved[0] >= saved[1]
    least = bound(snapshot, savings.bill, ClusterState())
    assert (least.cost if least.bill is None else least.bill) <= savings.bill.cost_of(snapshot.nodes) - saved[0]


def planned(snapshot: Snapshot, commitments: Commitments, *, wave: bool = False) -> Plan:
    """Return a pass with all marks old, in which pools give five nodes each."""
    pool = PoolPolicy(
        enabled=True, required_count=1, excess_threshold=Fraction(0), budgets=(), max_nodes_per_pass=5, rate=None
    )
    marks = {
        name: PoolMarks(marks={node.uid: Mark(node.name, NOW - 60 * MINUTE) for node in nodes})
        for name, nodes in snapshot.nodes_by_pool.items()
    }
    policy = Policy(
        dry_run=False,
        minimum_nodes=0,
        minimum_non_tainted_nodes=0,
        time_since_last_addition=timedelta(0),
        budgets=(),
        rate=None,
        other_pools=pool,
        commitments=commitments,
        wave=WaveLimits(Limit(percent=50), 90 * MINUTE) if wave else None,
    )
    return make_plan(Situation(snapshot, ClusterState(last_pass=NOW - 5 * MINUTE), policy), marks, PRICES)


@SOME
@given(snapshots(), commitments_(), st.booleans())
def test_the_orders_of_a_pass_save_what_the_bill_falls_by_and_each_saves_something(
    snapshot: Snapshot, commitments: Commitments, wave: bool
) -> None:
    plan, savings = (
        planned(snapshot, commitments, wave=wave),
        Savings.among(snapshot.nodes, (), PRICES, commitments, NOW),
    )
    assert plan.saving == savings.saving_of(snapshot.node_by_name[order.node] for order in plan.orders)
    assert all(order.saving > LITTLE for order in plan.orders if order.reason is DrainReason.UNDERUTILIZED)


@SOME
@given(snapshots(), commitments_())
def test_a_node_that_commitments_cover_saves_nothing_once_the_plan_has_come_true(
    snapshot: Snapshot, commitments: Commitments
) -> None:
    plan, nodes = planned(snapshot, commitments), snapshot.node_by_name
    gone = {*(order.node for order in plan.orders), *(plan.at_rest.nodes if plan.at_rest else ())}
    left = Savings.among(snapshot.nodes, gone, PRICES, commitments, NOW)
    covered = {
        decision.name
        for decision in plan.decisions
        if decision.verdict is Verdict.KEEP and decision.reason == Unremovable.COVERED_BY_COMMITMENT
    }
    assert all(left.of(nodes[name]) <= LITTLE for name in covered - gone)


ANOTHER_WAY = snapshot_of(generated(9, Mix.RICH, fill=0.25, pods_a_node=5, seed=1625, machines=MACHINES[1]))
"""Here the search by the bill takes another way than the search by prices, and ends elsewhere."""


@examples(40)
@example(ANOTHER_WAY)
@given(snapshots())
def test_a_commitment_of_a_family_that_is_not_there_changes_no_plan(snapshot: Snapshot) -> None:
    with_it, without = planned(snapshot, committed("c3")), planned(snapshot, NO_COMMITMENTS)
    assert replace(with_it, savings=None) == replace(without, savings=None)
