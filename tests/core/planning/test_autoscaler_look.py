from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from msgspec import structs

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.snapshot import NodePods, Snapshot
from shared.core.planning.autoscaler import context_of, is_eligible, with_announced, with_announcement
from shared.core.planning.autoscaler_look import Earlier, ScaleDownScan, drain_nodes, eligible, nodes_unneeded, scan
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.days.population import case
from tests.builders import NOW, cluster, node, pdb, pod, pod_class, taint
from tests.depth import cases

SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"


def scan_nodes(snapshot: Snapshot, *names: str, **given: Any) -> ScaleDownScan:
    """One look at the nodes of these names, by default at all but `home`."""
    context = Situation(snapshot, ClusterState(), Policy()).drain_context("")
    eligible = [row for row in snapshot.nodes if row.name != "home" and (not names or row.name in names)]
    most = given.pop("most", 0)
    return scan(snapshot, context, eligible, Earlier(**given), most=most)


def homed(nodes: Iterable[Node], pods: Iterable[Pod], **changes: Any) -> Snapshot:
    """The nodes beside a large one that takes all their pods."""
    return cluster([*nodes, node("home", cpu=64, memory=256)], pods, **changes)


def one_pod_each(count: int, **spec: Any) -> tuple[list[Node], list[Pod]]:
    nodes = [node(f"n{number:02}") for number in range(count)]
    return nodes, [pod(f"p{any_node.name}", on=any_node.name, **spec) for any_node in nodes]


@cases(
    "expected, allowed, annotations",
    ("a budget of one lets one node go, whichever", 1, 1, {}),
    ("one of three lets three go", 3, 3, {}),
    ("one that allows nothing keeps all", 0, 0, {}),
    ("pods that are safe to evict are not asked about", 3, 1, {SAFE: "true"}),
)
def test_what_one_node_takes_of_a_budget_is_gone_for_the_next(
    expected: int, allowed: int, annotations: dict[str, str]
) -> None:
    nodes, pods = one_pod_each(3, annotations=annotations)
    found = scan_nodes(homed(nodes, pods, disruption_budgets=(pdb("web", app="web", allowed=allowed),)))

    assert len(found.unneeded) == expected
    assert {*found.unneeded, *found.kept} == {any_node.name for any_node in nodes}


@cases(
    "expected, asked, allowed, earlier",
    ("once the look has put it there: its budget is used up", {"n0"}, ("n0", "n1"), 1, {"unneeded": ("n0",)}),
    ("of a node in deletion", set(), ("n1",), 0, {"leaving": ("n0",)}),
)
def test_a_pod_keeps_the_node_that_takes_it_by_its_budget(
    expected: set[str], asked: tuple[str, ...], allowed: int, earlier: dict[str, Any]
) -> None:
    """The pod of `n0` goes to `n1`, the first node with such a disk."""
    nodes = [node("n0"), node("n1", labels={"disk": "ssd"}), node("ssd", labels={"disk": "ssd"})]
    pods = [
        pod("a", on="n0", owner="ReplicaSet/a", node_selector={"disk": "ssd"}),
        pod("b", on="n1", owner="ReplicaSet/b"),
    ]
    for going, budgets in ((set(asked), ()), (expected, (pdb("a", app="a", allowed=allowed),))):
        assert set(scan_nodes(homed(nodes, pods, disruption_budgets=budgets), *asked, **earlier).unneeded) == going


@pytest.mark.parametrize(("expected", "allowed"), [(["n2"], 5), ([], 6)])
def test_each_pod_that_the_look_put_on_a_node_takes_of_a_budget_again(expected: list[str], allowed: int) -> None:
    """Two pods of `n0` go to `n1` and on from there, before `n2` with a fourth is asked."""
    nodes = [node("n0"), node("n1", labels={"disk": "ssd"}), node("ssd", labels={"disk": "ssd"}), node("n2")]
    kind = pod_class(owner="ReplicaSet/a", labels={"app": "a"}, node_selector={"disk": "ssd"})
    pods = [pod(f"a{n}", on=name, kind=kind) for n, name in enumerate(("n0", "n0", "n0", "n2"))]
    seen = homed(nodes, [*pods, pod("b", on="n1", owner="ReplicaSet/b")])
    seen = replace(seen, disruption_budgets=(pdb("a", app="a", allowed=allowed),))

    assert list(scan_nodes(seen, "n0", "n1", "n2", unneeded=("n0", "n1")).kept) == expected


@cases(
    "expected, pool, leaving",
    ("a pool may shrink to nothing", 3, NodePool("a"), ()),
    ("so many of it remain", 2, NodePool("a", min_total=2), ()),
    ("one in deletion is none of them", 1, NodePool("a", min_total=2), ("n3",)),
    ("so many of each of its zones remain", 2, NodePool("a", min_per_zone=1), ()),
    ("a pool that is not autoscaled stays as it is", 0, NodePool("a", autoscaled=False), ()),
    ("one that is not known stays, too", 0, None, ()),
)
def test_what_one_node_takes_of_a_minimum_is_gone_for_the_next(
    expected: int, pool: NodePool | None, leaving: tuple[str, ...]
) -> None:
    """Two of zone `y` and two of zone `z`, of which `n3` is not asked; beside two that are none of the pool's own."""
    nodes = [node(f"n{number}", zone="yyzz"[number]) for number in range(4)]
    outside = node("outside", labels={names.STANDBY_NODE: "true"})
    seen = replace(cluster([*nodes, outside, node("b", pool="b", zone="y")]), pools={"a": pool} if pool else {})

    found = scan_nodes(seen, "n0", "n1", "n2", leaving=leaving)

    assert len(found.unneeded) == expected
    assert len(found.kept) == (3 - expected if expected else 0), "a pool that may not shrink is not asked"


def test_a_node_with_more_pods_of_a_budget_than_it_allows_at_once_goes_last() -> None:
    nodes = [node("n0"), node("n1"), node("ssd", labels={"disk": "ssd"})]
    pods = [
        *(pod(f"a{n}", on="n0", owner="ReplicaSet/a", node_selector={"disk": "ssd"}) for n in range(2)),
        pod("b", on="n1", owner="ReplicaSet/b"),
    ]
    for expected, allowed in ((("n1", "n0"), 1), (("n0", "n1"), 2)):
        seen = homed(nodes, pods, disruption_budgets=(pdb("a", app="a", allowed=allowed),))

        assert scan_nodes(seen, "n0", "n1", unneeded=("n0",)).unneeded == expected


def test_empty_nodes_come_first_then_those_that_were_unneeded_before() -> None:
    """Room is left for the pod of one node alone."""
    nodes = [node("n0"), node("n1"), node("empty"), node("home", cpu=1)]
    pods = [pod(f"p{n}", on=f"n{n}", cpu=0.9, owner=f"ReplicaSet/w{n}") for n in range(2)]
    for before in ("n0", "n1"):
        found = scan_nodes(cluster(nodes, pods), unneeded=(before,))

        assert found.unneeded == ("empty", before)
        assert scan_nodes(cluster(nodes, pods), unneeded=(before,), most=1).unneeded == ("empty",)


@cases("expected, before", ("twice what may be deleted at once", 20, 0), ("so many more than before", 23, 3))
def test_a_look_ends_once_it_has_found_enough(expected: int, before: int) -> None:
    nodes, pods = one_pod_each(25)
    seen = homed(nodes, pods)
    found = scan_nodes(seen, unneeded=[any_node.name for any_node in nodes[:before]])

    assert (len(found.unneeded), found.kept, found.unseen) == (expected, (), True)
    assert not scan_nodes(homed(nodes[:3], pods[:3])).unseen
    assert len(nodes_unneeded(seen, context_of(seen))) == 25, "in time it finds all"


def test_the_search_for_room_goes_round_the_nodes_and_the_next_look_goes_on_from_there() -> None:
    nodes = [node("n0"), *(node(f"home{n}", cpu=64) for n in range(3))]
    pods = [pod(f"p{n}", on="n0", cpu=0.1, owner=f"ReplicaSet/w{n}") for n in range(2)]
    seen = cluster(nodes, pods)

    assert scan_nodes(seen, "n0").next_place == 2
    assert scan_nodes(seen, "n0", place=1).next_place == 3


def test_an_announced_node_is_room_as_any_other() -> None:
    """The announcement is a soft taint: what has no other place goes there."""
    nodes = [node("n0"), with_announcement(node("n1", labels={"disk": "ssd"}), wanted=True)]
    seen = cluster(nodes, [pod("p", on="n0", owner="ReplicaSet/a", node_selector={"disk": "ssd"})])

    assert scan_nodes(seen, "n0").unneeded == ("n0",)


@cases(
    "expected, earlier",
    ("behind the node found last", {"p0": "home1", "p1": "home2"}, {"place": 2}),
    ("where the last look put them", {"p0": "home1", "p1": "home1"}, {"homes": ["home1", "home1"]}),
    ("else anywhere: it is full now", {"p0": "home0", "p1": "home1"}, {"homes": ["full", "full"]}),
    ("else anywhere: it is gone", {"p0": "home0", "p1": "home1"}, {"homes": ["gone", "gone"]}),
)
def test_pods_of_a_node_are_put(expected: dict[str, str], earlier: dict[str, Any]) -> None:
    nodes = [node("full", cpu=1), node("home0"), node("home1"), node("home2"), node("n0")]
    pods = [pod("own", on="full", cpu=1, owner="Odd/own")]
    pods += [pod(f"p{n}", on="n0", cpu=0.5, owner=f"ReplicaSet/w{n}") for n in range(2)]
    homes = {f"default/p{n}": name for n, name in enumerate(earlier.pop("homes", ()))}
    found = scan_nodes(cluster(nodes, pods), "n0", homes=homes, **{"place": 1, **earlier})

    assert found.homes == {f"default/{name}": home for name, home in expected.items()}


def test_a_pod_that_was_put_on_a_node_found_later_has_its_home_where_it_ends() -> None:
    """The pod of `n0` goes to `n1` and on to `ssd`, as the pod of `n1` does; the next look puts both there at once."""
    nodes = [node("n0"), node("n1", labels={"disk": "ssd"}), node("ssd", labels={"disk": "ssd"})]
    kind = pod_class(owner="ReplicaSet/a", labels={"app": "a"}, node_selector={"disk": "ssd"})
    seen = homed(nodes, [pod("a0", on="n0", kind=kind), pod("a1", on="n1", kind=kind)])

    assert scan_nodes(seen, "n0", "n1", unneeded=("n0",)).homes == {"default/a0": "ssd", "default/a1": "ssd"}


def test_what_a_look_found_it_finds_again_once_it_is_announced() -> None:
    """Pods that spread over zones count on announced nodes as on any other."""
    seen = case(45, nodes=40).snapshot
    names_of = [any_node.name for any_node in eligible(seen)]
    first = scan_nodes(seen, *names_of)
    again = with_announced(seen, first.unneeded)
    second = scan_nodes(again, *names_of, unneeded=first.unneeded, place=first.next_place, homes=first.homes)

    assert set(first.unneeded) <= set(second.unneeded) != set()


def test_pods_of_a_node_in_deletion_have_their_room_before_any_other_node_is_asked() -> None:
    nodes = [node("n0"), node("going"), node("home", cpu=1)]
    pods = [pod("p", on="n0", cpu=0.9, owner="ReplicaSet/a"), pod("q", on="going", cpu=0.9, owner="ReplicaSet/b")]
    alone = cluster(nodes, pods)

    assert scan_nodes(alone, "n0").unneeded == ("n0",)
    assert scan_nodes(alone, "n0", leaving=("going",)).kept == ("n0",)
    leaves = cluster(nodes, [pods[0], structs.replace(pods[1], deleting=NOW)])
    assert scan_nodes(leaves, "n0", leaving=("going",)).unneeded == ("n0",), "what ends there needs none"
    waits = pod("q", phase=Phase.PENDING, cpu=0.9, owner="ReplicaSet/b", node_selector={names.HOSTNAME_LABEL: "home"})
    assert scan_nodes(cluster([nodes[0], nodes[2]], [pods[0], waits]), "n0").kept == ("n0",), (
        "and so have those that wait"
    )


def test_expendable_pods_take_no_room_and_need_none() -> None:
    """Below a priority of -10 pods are not in the autoscaler's picture."""
    for expected, priority in ((("n0",), -11), ((), -10)):
        full = pod("balloon", on="home", cpu=0.9, owner="ReplicaSet/balloon", priority=priority)
        big = pod("big", on="n0", cpu=3, owner="ReplicaSet/big", priority=priority)
        seen = cluster([node("n0"), node("home", cpu=1)], [full, big, pod("p", on="n0", cpu=0.5)])

        assert scan_nodes(seen, "n0").unneeded == expected


def own(**given: Any) -> Pod:
    return pod(f"p-{given['cpu']}", on="n1", **given)


def daemon(cpu: float, memory: float = 8) -> Pod:
    return own(cpu=cpu, memory=memory, owner="DaemonSet/d", node_selector={names.HOSTNAME_LABEL: "n1"})


@cases(
    "expected, pods",
    ("a quarter of both", True, [own(cpu=1, memory=4)]),
    ("more of its CPU", False, [own(cpu=1.1, memory=4)]),
    ("more of its memory", False, [own(cpu=1, memory=4.1)]),
    ("a quarter of what daemons leave", True, [own(cpu=0.5, memory=2), daemon(2)]),
    ("more of the CPU that they leave", False, [own(cpu=0.6, memory=2), daemon(2)]),
    ("more of the memory that they leave", False, [own(cpu=0.5, memory=2.1), daemon(2)]),
    ("nothing, and daemons leave nothing", True, [daemon(4, 16)]),
    ("something, and they leave nothing", False, [own(cpu=0.001, memory=0), daemon(4)]),
    ("an expendable pod asks for nothing", True, [own(cpu=3, priority=-11), own(cpu=1)]),
    ("of a priority just above it does", False, [own(cpu=3, priority=-10), own(cpu=1)]),
)
def test_a_node_is_looked_at_of_whose_cpu_and_memory_pods_ask_for_at_most_the_threshold(
    expected: bool, pods: list[Pod]
) -> None:
    assert is_eligible(node("n1", cpu=4, memory=16), NodePods(pods), Fraction(1, 4)) is expected


@cases(
    "changes",
    ("in deletion already", {"taints": (taint(names.AUTOSCALER_DELETING_TAINT),)}),
    ("scale-down disabled", {"annotations": {names.SCALE_DOWN_DISABLED: "true"}}),
    ("not Ready", {"ready": False}),
    ("standing by for a buffer", {"labels": {names.STANDBY_NODE: "true"}}),
    ("managed by Google", {"labels": {names.MANAGED_NODE: "true"}}),
)
def test_a_node_is_left_alone_that_is(changes: dict[str, Any]) -> None:
    assert not is_eligible(node("n1", **changes), NodePods(()), Fraction(1))


SYSTEM: dict[str, Any] = {"namespace": "kube-system"}
HOUR = timedelta(hours=1)


@cases(
    "takes, given",
    ("a ReplicaSet's is moved", True, {}),
    ("one that nobody would start again is not", False, {"owner": None}),
    ("unless it shows that it may be", True, {"owner": None, "annotations": {SAFE: "true"}}),
    ("one that is not safe to evict stays", False, {"annotations": {SAFE: "false"}}),
    ("and so does one that waits for its end", False, {"annotations": {SAFE: "on-completion"}}),
    ("a running Job's is moved, whatever Ebb would do", True, {"owner": "Job/j"}),
    ("a PDB that allows nothing keeps its pods", False, {"namespace": "guarded"}),
    ("a system pod is moved after an hour", True, {**SYSTEM, "created": NOW - HOUR}),
    ("and not before", False, {**SYSTEM, "created": NOW - HOUR + timedelta(seconds=1)}),
    ("but with a PDB of its own it is", True, {**SYSTEM, "created": NOW, "labels": {"app": "dns"}}),
    ("and if nobody knows its age", True, {**SYSTEM, "created": None}),
)
def test_pods_keep_their_node_by_the_autoscalers_own_rules(takes: bool, given: dict[str, Any]) -> None:
    budgets = pdb("none", allowed=0, namespace="guarded"), pdb("dns", app="dns", **SYSTEM)
    seen = homed([node("n1")], [pod("p", on="n1", **given)], disruption_budgets=budgets)

    assert scan_nodes(seen).unneeded == (("n1",) if takes else ())


@cases("gone, evictions, cpu", ("they have room", ("n0",), 1, 0.5), ("they have none, and none is moved", (), 0, 1))
def test_a_drain_moves_the_pods_of_a_node_if(gone: tuple[str, ...], evictions: int, cpu: float) -> None:
    """A pod that waits has its room before."""
    pods = [pod("p", on="n0", cpu=cpu), pod("q", phase=Phase.PENDING, cpu=0.5, node_selector={"disk": "ssd"})]
    found = drain_nodes(cluster([node("n0"), node("n1", cpu=1, labels={"disk": "ssd"})], pods), ["n0"], ())

    assert (found.gone, found.evictions) == (gone, evictions)
