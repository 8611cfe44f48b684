"""What is known of a node, a pod or a workload is the pass's own: its rules, its simulation, after its orders."""

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from functions.cli.analysis.exclusions import OF_CONSTRAINT, Exclusion, Landing, NodeChoice, choice, landings
from functions.cli.analysis.explanation import Explainer, NodeExplanation, NodeWorth, worth_of
from functions.cli.analysis.openings import Closed, describe_gate
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.names import OS_LABEL
from shared.core.cluster.node import Kubelet
from shared.core.cluster.pod import HostPort
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.planning.bill import Savings
from shared.core.planning.make_plan import make_plan
from shared.core.policy import Budget, BudgetUntil, Limit, Policy, Schedule
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.reasons import DrainReason, PodBlock, Unremovable
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.counts import count_nodes
from shared.core.rules.gate_rules import ProposedDrain
from shared.core.rules.gates import blockers
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, pdb, pod, policy, taint
from tests.depth import cases

MARKED = {"a": PoolMarks(marks={f"uid-n{at}": Mark(f"n{at}", NOW) for at in range(9)})}


def _explained(name: str, picture: Snapshot, rules: Policy | None = None, **state: object) -> NodeExplanation:
    situation = Situation(picture, ClusterState(last_pass=NOW, **state), rules or policy())  # type: ignore[arg-type]
    return Explainer(situation, make_plan(situation, MARKED, load())).node(name)


def test_a_pod_is_shown_with_what_keeps_it_and_where_it_would_go_all_the_same() -> None:
    pods = [pod("p", on="n1", owner=None), pod("q", on="n2", cpu=1, owner=None)]
    found = _explained("n1", cluster([node("n1"), node("n2")], pods, disruption_budgets=(pdb("web"),)))
    (place,) = found.pods
    assert [blocker.reason for blocker in place.blockers] == [PodBlock.NOT_REPLICATED]
    assert (place.landing.node, found.refusal) == ("n2", "")
    assert [budget.key for budget in place.budgets] == ["default/web"]


def test_pods_land_where_there_is_room_after_the_orders_before_them() -> None:
    """The empty n1 goes first, so that n2's pod lands on n3."""
    pods = [pod("p", on="n2", cpu=1), pod("q", on="n3", cpu=3.5)]
    found = _explained("n2", cluster([node("n1"), node("n2"), node("n3", cpu=8)], pods))
    assert [place.landing.node for place in found.pods] == ["n3"]


def test_a_refusal_names_the_pod_that_has_no_place() -> None:
    pods = [pod("p", on="n1", cpu=3), pod("q", on="n2", cpu=3)]
    assert "default/p: " in _explained("n1", cluster([node("n1"), node("n2")], pods)).refusal


def test_gates_are_shown_before_the_mark_is_ripe() -> None:
    found = _explained("n1", cluster([node("n1"), node("n2")]), policy(windows=()))
    assert [gate.blocker.reason for gate in found.closed] == [Unremovable.OUTSIDE_WINDOWS]


def test_pods_of_a_drain_in_flight_are_shown_with_the_place_that_is_kept_for_them() -> None:
    picture = cluster([node("n1"), node("n2")], [pod("p", on="n1")])
    found = _explained("n1", picture, claims={"uid-n1": claim("n1")})
    assert [place.landing.node for place in found.pods] == ["n2"]
    assert found.closed == ()


def test_pods_that_go_with_the_node_are_counted() -> None:
    pods = [pod("p", on="n1"), pod("d", on="n1", owner="DaemonSet/d")]
    found = _explained("n1", cluster([node("n1"), node("n2")], pods))
    assert (len(found.pods), found.staying) == (1, 1)


PRICES = load()
PRICE = PRICES.of(node("n")).per_hour
ENDS = NOW + timedelta(days=100)
"""Of a commitment for e2 machines; each node has 4 vCPUs and 16 GiB."""


def committed(nodes: int, until: datetime | None = ENDS, **changes: Any) -> Commitments:
    return Commitments((Commitment("e2", Capacity(Fraction(4 * nodes), Fraction(16 * nodes)), until),), **changes)


@cases(
    "expected, commitments",
    ("nothing is committed: no word of bills", None, Commitments()),
    ("another node uses the commitment: its price", NodeWorth(PRICE), committed(2)),
    ("all are committed: nothing until the end", NodeWorth(0, ("e2",), ENDS, PRICE), committed(3)),
    ("an end that is not known", NodeWorth(0, ("e2",)), committed(3, until=None)),
    ("a flexible commitment covers all", NodeWorth(0, ("flexible",)),
     Commitments(flexible=FlexibleCommitment(Fraction(10), Fraction(0)))),
)  # fmt: skip
def test_a_node_is_worth_what_the_bill_falls_by(expected: NodeWorth | None, commitments: Commitments) -> None:
    nodes = [node(f"n{number}") for number in range(3)]
    found = worth_of(Savings.among(nodes, (), PRICES, commitments, NOW), nodes[0])

    assert found == expected


def test_a_spot_node_saves_its_price_whatever_is_committed() -> None:
    nodes = [node("n0", labels={names.SPOT_LABELS[0]: "true"}), node("n1")]
    found = worth_of(Savings.among(nodes, (), PRICES, committed(3), NOW), nodes[0])

    assert found == NodeWorth(PRICES.of(nodes[0]).per_hour)


HOUR = timedelta(hours=1)
N1, N2 = node("n1"), node("n2")
NIGHT = Schedule("0 20 * * *", 10 * HOUR)
NOON = Schedule("0 12 * * *", 2 * HOUR)


def _closed(rules: Policy, **state: Any) -> list[Closed]:
    counts = count_nodes([N1, N2], {}, ClusterState(**state), rules, NOW)
    proposed = ProposedDrain(counts, N1, DrainReason.UNDERUTILIZED)
    return [describe_gate(blocker, proposed) for blocker in blockers(counts, N1, DrainReason.UNDERUTILIZED)]


def test_a_window_is_closed_until_it_opens() -> None:
    assert [closed.until for closed in _closed(policy(windows=(NOON,)))] == [NOW + 14 * HOUR]


@cases(
    "expected, rules",
    ("a window", '"0 12 * * *" for 2h (UTC)', policy(windows=(NOON,))),
    ("what binds", 'nodes: 0, "0 20 * * *" for 10h (UTC)',
     policy(budgets=(Budget(Limit(percent=90)), Budget(Limit(count=0), NIGHT)))),
    ("the cap", "awaitingDeletion: 0",
     policy(cluster_wide={"budget_until": BudgetUntil.REPLACED, "awaiting_deletion": Limit(count=0)})),
)  # fmt: skip
def test_it_is_shown_which_line_of_the_policy_it_is(expected: str, rules: Policy) -> None:
    assert [closed.which for closed in _closed(rules)] == [expected]


HOST = "kubernetes.io/hostname"
APART = (PodTerm(HOST, LabelSelector((Requirement("app", "In", ("web",)),)), ("default",)),)


def _told(found: tuple[Landing, ...]) -> list[tuple[str, str, str]]:
    return [(landing.pod.name, landing.node, landing.runner_up) for landing in found]


def test_a_pod_goes_to_the_fullest_node_with_room_and_else_to_the_next() -> None:
    lying = [pod("a", on="n2", cpu=3), pod("b", on="n3", cpu=2)]
    simulation = Simulation.of(cluster([node("n1"), node("n2"), node("n3"), node("n4")], [pod("p", on="n1"), *lying]))
    assert _told(landings(simulation, "n1")) == [("p", "n2", "n3")]


def test_of_pods_that_do_not_all_fit_each_is_shown_about() -> None:
    pods = [pod("large", on="n1", cpu=3), pod("small", on="n1", cpu=1)]
    found = landings(Simulation.of(cluster([node("n1"), node("n2", cpu=1)], pods)), "n1")
    assert _told(found) == [("large", "", ""), ("small", "n2", "")]
    assert [excluded.rule.value for excluded in found[0].choice.excluded] == ["room"]


def test_the_runner_up_is_asked_for_without_the_pod_itself() -> None:
    """Its own anti-affinity keeps no pod off the node that it would have gone to otherwise."""
    pods = [pod("p", on="n1", anti_affinity=APART)]
    found = landings(Simulation.of(cluster([node("n1"), node("n2"), node("n3")], pods)), "n1")
    assert _told(found) == [("p", "n2", "n3")]
    assert found[0].choice.open == 2


def test_nobody_shows_where_a_pod_goes_that_is_not_modelled() -> None:
    (found,) = landings(Simulation.of(cluster([node("n1"), node("n2")], [pod("p", on="n1", scheduler="own")])), "n1")
    assert (found.node, [finding.reason for finding in found.fixed]) == ("", [PodBlock.FOREIGN_SCHEDULER])


def test_a_node_without_movable_pods_has_no_landings() -> None:
    assert landings(Simulation.of(cluster([node("n1")], [pod("d", on="n1", owner="DaemonSet/d")])), "n1") == ()


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 1, 2])), max_size=10))
def test_what_all_fits_lands_where_the_proof_has_it_and_nothing_is_changed(rows: list[tuple[int, float]]) -> None:
    pods = [pod(f"p{at}", on=f"n{place}", cpu=cpu) for at, (place, cpu) in enumerate(rows)]
    simulation = Simulation.of(cluster([node(f"n{at}") for at in range(5)], pods), robust=False)
    before = simulation.assignments.steps()
    found = {landing.pod.key: landing.node for landing in landings(simulation, "n0")}
    assert simulation.assignments.steps() == before
    refused = simulation.try_remove("n0")
    assert (refused is None) == all(found.values())
    if refused is None:
        assert found == {move.pod: move.node for move in simulation.assignments.moves()["n0"]}


ZONE = "topology.kubernetes.io/zone"
WEB = LabelSelector((Requirement("app", "In", ("web",)),))
DB = LabelSelector((Requirement("app", "In", ("db",)),))


def _choice(nodes: list[Any], moving: Any, *others: Any) -> NodeChoice:
    simulation = Simulation.of(cluster(nodes, [moving, *others]))
    arrays, packing = simulation.arrays, simulation.first_packing.copy()
    source, kind = arrays.index[moving.node], arrays.kind_of[moving.spec]
    packing.close([source])
    return choice(packing, kind, source)


def _words(found: NodeChoice) -> dict[str, tuple[int, int]]:
    return {
        f"{excluded.rule.value} {excluded.detail}".strip(): (excluded.nodes, excluded.alone)
        for excluded in found.excluded
    }


def test_every_constraint_has_a_word() -> None:
    assert OF_CONSTRAINT.keys() == set(CONSTRAINTS)
    others = {Exclusion.SHUT, Exclusion.TAINT, Exclusion.SELECTOR, Exclusion.KUBELET, Exclusion.ROOM}
    assert {*OF_CONSTRAINT.values(), *others} == set(Exclusion)


@cases(
    "expected, other, spec",
    ("a cordoned node", "shut", {"unschedulable": True}, {}),
    ("a taint", "taint", {"taints": (taint("gpu"),)}, {}),
    ("a node selector", "selector", {}, {"node_selector": {"disk": "ssd"}}),
    ("affinity", "selector", {}, {"node_terms": (NodeTerm((Requirement("disk", "Exists"),)),)}),
    ("older", "kubelet 1.33", {"kubelet": Kubelet((1, 32))}, {"needs_kubelet": Kubelet((1, 33))}),
    ("another system", "kubelet linux", {"labels": {OS_LABEL: "windows"}}, {"os": "linux"}),
    ("too little CPU", "room cpu", {"cpu": 1}, {"cpu": 2}),
    ("too little memory", "room memory", {"memory": 1}, {"memory": 2}),
    ("no place for one more pod", "room pods", {"pods": 0}, {}),
    ("apart", "anti_affinity", {}, {"anti_affinity": (PodTerm(HOST, DB, ("default",)),)}),
    ("a port that is taken", "host_port", {}, {"host_ports": (HostPort("TCP", 80),)}),
    ("company that is not there", "affinity", {},
     {"affinity": (PodTerm(HOST, LabelSelector((Requirement("x", "Exists"),)), ("default",)),)}),
    ("too uneven", "spread", {"zone": "y"}, {"hard_spread": (SpreadConstraint(ZONE, WEB),)}),
)  # fmt: skip
def test_a_node_is_excluded_by(expected: str, other: dict[str, Any], spec: dict[str, Any]) -> None:
    db = pod("db", on="n2", owner="StatefulSet/db", host_ports=(HostPort("TCP", 80),), cpu=0, memory=0)
    webs = [pod(f"w{number}", on="n2") for number in range(2)] if expected == "spread" else []
    moving = pod("p", on="n1", **spec)
    assert _words(_choice([node("n1"), node("n2", **other)], moving, db, *webs)) == {expected: (1, 1)}


def test_a_node_counts_with_each_rule_and_alone_with_none_where_there_are_two() -> None:
    nodes = [node("n1"), node("n2", cpu=1, taints=(taint("gpu"),)), node("n3", cpu=1), node("n4")]
    found = _choice(nodes, pod("p", on="n1", cpu=2))
    assert (found.nodes, found.open, found.where.names) == (3, 1, ("n4",))
    assert _words(found) == {"taint": (1, 0), "room cpu": (2, 1)}
    assert [excluded.where.names for excluded in found.excluded] == [("n2",), ("n2", "n3")]
    assert [excluded.where_alone.names for excluded in found.excluded] == [(), ("n3",)]


def test_a_node_with_just_enough_room_is_not_excluded_for_it() -> None:
    found = _choice([node("n1"), node("n2", cpu=2, taints=(taint("gpu"),))], pod("p", on="n1", cpu=2))
    assert _words(found) == {"taint": (1, 1)}


def test_the_node_itself_is_no_other_node() -> None:
    assert _choice([node("n1")], pod("p", on="n1")) == NodeChoice(0, 0)


@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.booleans(), st.sampled_from("xyz")), min_size=1, max_size=6),
    st.sampled_from([0.5, 1.5, 3]),
    st.lists(st.integers(0, 5), max_size=4),
)
def test_what_no_rule_excludes_is_what_may_take_the_pod(
    rows: list[tuple[int, bool, str]], cpu: float, webs: list[int]
) -> None:
    others = [
        node(f"n{at}", cpu=size, zone=zone, taints=(taint("t"),) if tainted else ())
        for at, (size, tainted, zone) in enumerate(rows, start=1)
    ]
    spread = (SpreadConstraint(ZONE, WEB),)
    moving = pod("p", on="n0", cpu=cpu, hard_spread=spread)
    lying = [pod(f"w{at}", on=f"n{1 + place % len(rows)}", cpu=0.1) for at, place in enumerate(webs)]
    simulation = Simulation.of(cluster([node("n0"), *others], [moving, *lying]))
    packing, kind = simulation.first_packing.copy(), simulation.arrays.kind_of[moving.spec]
    packing.close([0])
    assert choice(packing, kind, 0).open == int(packing.taking(kind).sum())
