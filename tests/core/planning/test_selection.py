from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.placement import Simulation
from shared.core.placement.simulation import NoPlace
from shared.core.planning.bill import Bill, Savings
from shared.core.planning.candidates import AssessedNode, holder
from shared.core.planning.plan import PlannedOrder, Verdict
from shared.core.planning.selection import RemovalOrder
from shared.core.policy import Policy
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.drain_time import DrainEstimate, DrainTime, Turns
from shared.core.rules.situation import Situation
from shared.core.rules.utilization import usage
from tests.builders import NOW, claim, cluster, node, only_empty, our_taint, pdb, pod, pod_class, policy, taint
from tests.core.planning.passes import in_flight, ordered, plan, verdicts
from tests.depth import cases


def first(*pods: Any, **settings: Any) -> PlannedOrder:
    """Plan for an old node n1 and a younger n2, of which one may go; return the order."""
    nodes = [node("n1"), node("n2", created=NOW - timedelta(hours=12)), node("n3", pool="b", cpu=32, memory=64)]
    (order,) = plan(cluster(nodes, pods), policy(max_nodes_per_pass=1, **settings)).orders
    return order


@pytest.mark.acceptance(36)
def test_an_empty_node_goes_before_one_that_is_less_used() -> None:
    """A DaemonSet's pods fill it, and go with it."""
    order = first(pod("agent", on="n1", cpu=2.5, owner="DaemonSet/agent"), pod("web", on="n2", cpu=0.1))

    assert (order.node, order.reason) == ("n1", DrainReason.EMPTY)


@cases(
    "expected, taints",
    ("the autoscaler deletes it: its pod comes too", [], (taint(names.AUTOSCALER_DELETING_TAINT),)),
    ("it stays, with its pod", ["n1"], (taint("somebody"),)),
)
def test_the_pods_of_a_node_that_the_autoscaler_deletes_keep_their_room(expected: list[str], taints: Any) -> None:
    """n3 has room for what n0 or n1 holds, not for both."""
    nodes = [node("n0", taints=taints, pool="b"), node("n1"), node("n3", pool="b")]
    pods = [pod("p0", on="n0", cpu=1.5), pod("p1", on="n1", cpu=1.5), pod("p3", on="n3", cpu=2)]

    made = plan(cluster(nodes, pods))

    assert ordered(made) == expected
    assert expected or verdicts(made)["n1"] == ("keep", "no_place_for_pods")


@cases(
    "expected, claims",
    ("its claim's, whatever somebody wrote on the node", "order", {"uid-n1": claim("n1")}),
    ("without a claim our taint's", "another", {}),
)
def test_a_node_is_held_by_the_order_of(expected: str, claims: Any) -> None:
    assert holder(node("n1", taints=(our_taint("another"),)), ClusterState(claims=claims)) == expected


SLOW = pod_class(owner="ReplicaSet/slow", labels={"app": "slow"})


def slow(*on: str, took: timedelta, kind: Any = SLOW) -> list[Any]:
    """Pods of a workload that took so long to be Ready."""
    start = NOW - timedelta(hours=1)
    return [
        pod(f"slow-{number}", on=name, kind=kind, started=start, ready_since=start + took)
        for number, name in enumerate(on)
    ]


def kept(*pods: Any, allowed: int = 1, after: timedelta = timedelta(0), **given: Any) -> dict[str, tuple[str, str]]:
    """Plan for n1 and n2 under one PodDisruptionBudget; the deadline is 9 minutes, their grace of 30 s included."""
    nodes = [node("n1"), node("n2"), node("n3", pool="b", cpu=32, memory=64)]
    budgets = (pdb("slow", app="slow", allowed=allowed),)
    found = only_empty(cluster(nodes, pods, disruption_budgets=budgets))
    rules = policy(max_nodes_per_pass=2, required_count=0, consolidate_after=after)
    return verdicts(plan(found, rules, **given))


@cases(
    "expected, took, allowed",
    ("two rounds take as long as a drain may last", "order", 270, 1),
    ("a second more each", "keep", 271, 1),
    ("both at once", "order", 271, 2),
    ("one round is never too long: what it takes is not known", "order", 9000, 2),
)
def test_a_drain_that_could_not_end_before_its_deadline_is_refused_by_name(
    expected: str, took: int, allowed: int
) -> None:
    found = kept(*slow("n1", "n1", took=timedelta(seconds=took)), allowed=allowed)
    assert found["n1"] == (expected, "drain_too_long" if expected == "keep" else "underutilized")


@cases(
    "second, on, took, given",
    ("it is no matter of marks", None, ["n1", "n1"], 5, {"after": timedelta(minutes=5), "marks": None}),
    ("nodes of one pass that share a budget count together", "order", ["n1", "n1", "n2"], 4, {}),
    ("so do pods that a drain has yet to move", "in_flight", ["n1", "n1", "n2"], 4, {"state": in_flight("n2")}),
)
def test_the_drain_of_the_first_node_is_too_long(
    second: str | None, on: list[str], took: int, given: dict[str, Any]
) -> None:
    found = kept(*slow(*on, took=timedelta(minutes=took)), **given)
    assert found["n1"] == ("keep", "drain_too_long")
    assert second in {None, found["n2"][0]}


@pytest.mark.parametrize(("verdict", "minutes"), [("order", 0), ("waiting", 5)])
def test_the_plan_shows_how_many_rounds_what_holds_them_and_how_long_they_take(verdict: str, minutes: int) -> None:
    nodes = [node("n1"), node("n2", pool="b")]
    slow_pods = slow("n1", "n1", took=timedelta(minutes=1))
    seen = cluster(nodes, slow_pods, disruption_budgets=(pdb("slow", app="slow"),))
    decision = plan(seen, policy(consolidate_after=timedelta(minutes=minutes))).of("n1")
    assert decision is not None
    assert decision.verdict.value == verdict
    assert decision.drain == DrainTime(
        timedelta(minutes=2), timedelta(minutes=3, seconds=5), 2, "default/slow", timedelta(minutes=9)
    )


def asked(name: str, machine: str = "e2-standard-4", cpu: float = 1, **given: Any) -> AssessedNode:
    """A node with a pod; `most` and `deadline` are the minutes of its drain."""
    own, minutes = node(name, machine=machine), {key: given.pop(key, 9) for key in ("most", "deadline")}
    turns = (Turns("", 1, 1, timedelta(0), timedelta(minutes=minutes["most"])),)
    estimate = DrainEstimate(turns, timedelta(minutes=minutes["deadline"]))
    reason = given.pop("reason", DrainReason.UNDERUTILIZED)
    return AssessedNode(own, usage(own, [pod("p", cpu=cpu)]), reason, (), None, estimate=estimate, **given)


EMPTY, EXPIRED, LARGE, SMALL = DrainReason.EMPTY, DrainReason.EXPIRED, "e2-standard-8", "e2-standard-2"


@cases(
    "first, second",
    ("empty before expired", asked("b", reason=EMPTY), asked("a", reason=EXPIRED)),
    ("expired before little used", asked("b", reason=EXPIRED), asked("a")),
    ("what is to be avoided after all", asked("b"), asked("a", reason=EMPTY, avoided=True)),
    ("what is surely in time before what saves more", asked("b", SMALL), asked("a", most=10)),
    ("what saves more before what is used less", asked("b", LARGE, cpu=2), asked("a")),
    ("what is used less before what is sooner gone", asked("b", most=8), asked("a", cpu=1.1, most=7)),
    ("what is sooner gone before the first by name", asked("b", most=8), asked("a")),
    ("the first by name", asked("a"), asked("b")),
)
def test_the_order_of_removal(first: AssessedNode, second: AssessedNode) -> None:
    seen = Situation(cluster([first.node, second.node], []), ClusterState(), Policy(prefer=()))
    order = RemovalOrder(seen, Savings(Bill(load())))

    assert sorted([second, first], key=order) == sorted([first, second], key=order) == [first, second]


@pytest.mark.parametrize(("goes", "hours"), [("n2", 11), ("n1", 12)])
def test_of_nodes_that_save_the_same_one_goes_whose_pods_were_not_moved_lately(goes: str, hours: int) -> None:
    """n1 is less used than n2; its pod began so many hours ago."""
    lately = pod("lately", on="n1", cpu=0.2, created=NOW - timedelta(hours=hours))
    nodes = [node("n1"), node("n2"), node("n3", pool="b", cpu=32, memory=64)]
    pods = [lately, pod("long", on="n2", cpu=0.4, created=NOW - timedelta(days=1))]
    (order,) = plan(cluster(nodes, pods), policy(max_nodes_per_pass=1)).orders
    assert order.node == goes


@pytest.mark.acceptance(36)
def test_a_node_whose_drain_could_be_late_goes_after_one_that_surely_is_in_time() -> None:
    """Both hold ten pods; those of n1, which is less used, take up to 545 s one by one, of 540 s."""
    quick = pod_class(owner="ReplicaSet/quick", labels={"app": "quick"}, cpu=0.2)
    late = slow(*["n1"] * 10, took=timedelta(seconds=20))
    pods = [*late, *(pod(f"quick-{number}", on="n2", kind=quick) for number in range(10))]
    budgets = (pdb("slow", app="slow"), pdb("quick", app="quick", allowed=9))
    nodes = [node("n1"), node("n2"), node("n3", pool="b", cpu=32, memory=64)]
    (order,) = plan(cluster(nodes, pods, disruption_budgets=budgets), policy(max_nodes_per_pass=1)).orders
    assert order.node == "n2"


ODD = "ValueError: n1 is odd"


def test_a_fault_over_one_node_costs_that_node_and_not_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    removed = Simulation.try_remove

    def fails_on_n1(simulation: Simulation, name: str) -> NoPlace | None:
        if name == "n1":
            raise ValueError(ODD.partition(": ")[2])
        return removed(simulation, name)

    monkeypatch.setattr(Simulation, "try_remove", fails_on_n1)
    made = plan(cluster([node("n1"), node("n2"), node("n3", pool="b")], [pod("p", on="n1"), pod("q", on="n2")]))

    assert ordered(made) == ["n2"]
    assert [row.blockers for row in made.decisions if row.name == "n1"] == [(Blocker(Unremovable.UNFORESEEN, "", ODD),)]
    assert made.unforeseen == (ODD, ODD), "of the look ahead, and of the node"


def test_a_node_that_an_empty_taint_holds_is_on_its_way_and_is_not_asked() -> None:
    made = plan(cluster([node("n1", taints=(taint(names.OUR_TAINT),)), node("n2"), node("n3")], [pod("p", on="n1")]))

    assert verdicts(made)["n1"][0] == Verdict.IN_FLIGHT.value


@cases(
    "expected, cpu, settings",
    ("there is room, for each by itself", ("waiting", "marked_recently"), 1.5, {}),
    ("there is no room", ("keep", "no_place_for_pods"), 2.5, {}),
    ("both must remain", ("keep", "minimum_nodes"), 1.5, {"minimum_nodes": 2}),
    ("what else keeps it ends by itself", ("waiting", "marked_recently"), 1.5,
     {"time_since_last_addition": timedelta(days=999)}),
)  # fmt: skip
def test_where_no_marks_are_known_a_node_waits_only_if_it_could_go(
    expected: tuple[str, str], cpu: float, settings: dict[str, Any]
) -> None:
    pods = [pod(f"p{number}", on=f"n{number}", cpu=cpu) for number in (1, 2)]
    snapshot = cluster([node("n1"), node("n2")], pods)
    rules = policy(consolidate_after=timedelta(minutes=5), cluster_wide=settings)

    unknown, unmarked = verdicts(plan(snapshot, rules, marks=None)), verdicts(plan(snapshot, rules))

    assert unknown == {"n1": expected, "n2": expected}
    assert unmarked == dict.fromkeys(unknown, ("waiting", "marked_recently"))
