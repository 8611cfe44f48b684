from typing import Any

import numpy as np
import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, NoPlace, Simulation, search
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import CATCH_UP, REMEMBERED, FitCache
from tests.builders import announced_taint, cluster, node, our_taint, pod, pod_class, resources, taint
from tests.depth import cases


def simulation(snapshot: Snapshot, **options: Any) -> Simulation:
    return Simulation.of(snapshot, **options)


def taken(snapshot: Snapshot, *order: str, **options: Any) -> list[str]:
    """Try the nodes in order (all by name unless given); return those taken."""
    subject = simulation(snapshot, **options)
    return [
        name for name in order or [any_node.name for any_node in snapshot.nodes] if subject.try_remove(name) is None
    ]


def apart(key: str = names.HOSTNAME_LABEL, app: str = "web") -> tuple[PodTerm, ...]:
    return (PodTerm(key, LabelSelector((Requirement("app", "In", (app,)),)), ("default",)),)


@pytest.mark.acceptance(45)
@cases(
    "expected, per_node, cpu",
    ("five nodes with one pod of 2.2 CPU on 4: none can go", 0, 1, 2.2),
    ("five nodes with eleven pods of 0.2 CPU: they fit on three", 2, 11, 0.2),
)
def test_pods_must_fit_together_on_what_remains(expected: int, per_node: int, cpu: float) -> None:
    kind = pod_class(cpu=cpu)
    pods = [pod(f"p{n}-{number}", on=f"n{n}", kind=kind) for n in range(5) for number in range(per_node)]
    assert len(taken(cluster([node(f"n{n}") for n in range(5)], pods))) == expected


@pytest.mark.acceptance(47)
def test_memory_counts_as_cpu_does() -> None:
    full = [pod(f"p{n}", on=f"n{n}", cpu=0.8, memory=0.95 * 16) for n in range(3)]
    assert taken(cluster([node(f"n{n}") for n in range(3)], full)) == []


@cases(
    "expected, other, spec",
    ("a plain pod goes to a plain node", ["n1"], node("n2"), {}),
    ("not to one that is not ready", [], node("n2", ready=False), {}),
    ("not to one that somebody cordoned", [], node("n2", unschedulable=True), {}),
    ("not to one with our taint", [], node("n2", taints=(our_taint(),)), {}),
    ("not to one going", [], node("n2", taints=(announced_taint(),)), {}),
    ("not past a taint", [], node("n2", taints=(taint("gpu"),)), {}),
    ("tolerated", ["n1"], node("n2", taints=(taint("gpu"),)), {"tolerations": (Toleration("gpu", "Exists"),)}),
    ("not where the selector does not match", [], node("n2"), {"node_selector": {"disk": "ssd"}}),
    ("selected", ["n1"], node("n2", labels={"disk": "ssd"}), {"node_selector": {"disk": "ssd"}}),
    ("not against affinity", [], node("n2"), {"node_terms": (NodeTerm((Requirement("disk", "Exists"),)),)}),
    ("not where the number of pods is reached", [], node("n2", pods=0), {}),
    ("not without the extended resource", [], node("n2"), {"requests": resources(1, gpu=1)}),
    ("an extended resource that is there", ["n1"], node("n2", allocatable=resources(4, 16, pods=110, gpu=1)),
     {"requests": resources(1, gpu=1)}),
)  # fmt: skip
@pytest.mark.acceptance(41, 43)
def test_a_pod_goes_only_where_the_scheduler_would_let_it(
    expected: list[str], other: Node, spec: dict[str, Any]
) -> None:
    assert taken(cluster([node("n1"), other], [pod("p", on="n1", **spec)]), "n1") == expected


@cases("picky", ("asked first", "a"), ("asked last", "z"))
@cases("expected, labels", ("its affinity does not match", [], {}), ("it matches", ["n1"], {"disk": "ssd"}))
def test_pods_that_differ_in_affinity_alone_are_kept_apart(
    expected: list[str], labels: dict[str, str], picky: str
) -> None:
    terms = (NodeTerm((Requirement("disk", "Exists"),)),)
    pods = [pod("p", on="n1"), pod(picky, on="n1", node_terms=terms)]
    assert taken(cluster([node("n1"), node("n2", labels=labels)], pods), "n1") == expected


@cases(
    "expected, mover, stayer",
    ("the mover rejects who stays", [], {"anti_affinity": apart()}, {}),
    ("who stays rejects the mover", [], {}, {"anti_affinity": apart()}),
    ("it means others", ["n1"], {"anti_affinity": apart(app="db")}, {}),
    ("who stays has finished", ["n1"], {"anti_affinity": apart()}, {"phase": Phase.SUCCEEDED}),
    ("who stays is a daemon", [], {"anti_affinity": apart()}, {"owner": "DaemonSet/web"}),
    ("in the same zone", [], {"anti_affinity": apart(names.ZONE_LABEL)}, {}),
    ("nodes without the key are no domain", ["n1"], {"anti_affinity": apart("rack")}, {}),
)
def test_anti_affinity_holds_in_both_directions(
    expected: list[str], mover: dict[str, Any], stayer: dict[str, Any]
) -> None:
    pods = [pod("mover", on="n1", **mover), pod("stayer", on="n2", **stayer)]
    assert taken(cluster([node("n1"), node("n2")], pods), "n1") == expected


IN_ZONE, AT_HOME = apart(names.ZONE_LABEL), {names.ZONE_LABEL: "z"}
OTHER = pod("mover", on="n1", owner="ReplicaSet/x", anti_affinity=IN_ZONE, node_selector=AT_HOME)
WEB = pod("web", on="n1", cpu=1, node_selector=AT_HOME)
DB = pod("db", on="n1", node_selector={names.ZONE_LABEL: "b"}, labels={"app": "db"}, anti_affinity=IN_ZONE)


@cases(
    "expected, pods",
    (
        "it leaves the domain it moves out of",
        ["n1"],
        [pod("mover", on="n1", anti_affinity=IN_ZONE, node_selector=AT_HOME)],
    ),
    ("what stays on a cordoned node still holds its own", [], [pod("daemon", on="n1", owner="DaemonSet/web"), OTHER]),
    ("what leaves later holds it until then: who is evicted first is not known", [], [WEB, DB]),
)
def test_a_pod_may_come_back_to_the_zone_of_its_node(expected: list[str], pods: list[Pod]) -> None:
    assert taken(cluster([node("n1"), node("n2"), node("n3", zone="b")], pods), "n1") == expected


def test_nodes_taken_are_no_destinations_and_their_pods_count_together() -> None:
    pods = [pod(f"p{n}", on=f"n{n}", cpu=1.5) for n in range(4)]
    subject = simulation(cluster([node(f"n{n}") for n in range(4)], pods))
    assert [subject.try_remove(f"n{n}") is None for n in range(4)] == [True, True, False, False]
    assert subject.taken == ("n0", "n1")
    assert {move.node for moves in subject.assignments.moves().values() for move in moves} <= {"n2", "n3"}


def test_a_node_that_received_pods_may_go_later_and_moves_show_final_places_only() -> None:
    packed = cluster([node("n1"), node("n2"), node("n3", cpu=8)], [pod("a", on="n1"), pod("b", on="n2")])
    subject = simulation(packed, robust=False)
    assert [subject.try_remove(name) for name in ("n1", "n2")] == [None, None]
    assert {name: [(move.pod, move.node) for move in moves] for name, moves in subject.assignments.moves().items()} == {
        "n1": [("default/a", "n3")],
        "n2": [("default/b", "n3")],
    }


def test_headroom_is_left_free_for_what_moves() -> None:
    snapshot = cluster([node("n1"), node("n2")], [pod("a", on="n1", cpu=2), pod("b", on="n2", cpu=1.5)])
    assert taken(snapshot, "n1") == ["n1"]
    assert taken(snapshot, "n1", headroom={"a": 12}) == ["n1"]
    assert taken(snapshot, "n1", headroom={"a": 13}) == []


def test_a_fit_that_only_packing_finds_is_not_robust() -> None:
    nodes = [node("n1"), node("n2", cpu=3), node("n3", cpu=2)]
    pods = [pod("a-small", on="n1", cpu=1), pod("b-small", on="n1", cpu=1), pod("c-large", on="n1", cpu=2)]
    split = cluster(nodes, [*pods, pod("d", on="n2", cpu=1)])
    assert taken(split, "n1", robust=False) == ["n1"]
    assert taken(split, "n1") == []


def test_a_pod_with_a_rule_that_is_not_modelled_is_never_shown_to_fit() -> None:
    claiming = pod("p", on="n1", resource_claims=("gpu",))
    refusal = simulation(cluster([node("n1"), node("n2")], [claiming])).try_remove("n1")
    assert isinstance(refusal, NoPlace)
    assert (refusal.pod.key, refusal.detail) == ("default/p", "resource_claims")


def test_an_overbooked_resource_bars_only_who_asks_for_it() -> None:
    nodes = [node("n1"), node("n2", cpu=1)]
    full = pod("full", on="n2", cpu=2, memory=1)
    assert taken(cluster(nodes, [full, pod("thrifty", on="n1", cpu=0, memory=1)]), "n1") == ["n1"]
    assert taken(cluster(nodes, [full, pod("modest", on="n1", cpu=0.1, memory=1)]), "n1") == []


def test_a_pod_that_stays_counts_as_booked_and_one_that_moves_as_asked() -> None:
    nodes = [node("n1"), node("n2")]
    grown = pod("grown", on="n2", cpu=1, booked=resources(3.5, 1))
    assert taken(cluster(nodes, [pod("a", on="n1", cpu=1), grown]), "n1") == []
    assert taken(
        cluster(nodes, [pod("a", on="n1", cpu=1, booked=resources(3.5, 1)), pod("b", on="n2", cpu=3)]), "n1"
    ) == ["n1"]


def test_asking_twice_for_a_node_is_a_mistake() -> None:
    subject = simulation(cluster([node("n1"), node("n2")]), departing=["n2"])
    assert subject.try_remove("n1") is None
    for name in ("n1", "n2"):
        with pytest.raises(ValueError, match="already on its way out"):
            subject.try_remove(name)


def test_the_search_takes_the_money() -> None:
    nodes = [node("cheap", cpu=4), node("dear", cpu=4), node("rest", cpu=4)]
    pods = [pod(any_node.name, on=any_node.name, cpu=3 if any_node.name == "rest" else 1.2) for any_node in nodes]
    rows = [Candidate("cheap", 1), Candidate("dear", 10), Candidate("rest", 1)]
    found = search(simulation(cluster(nodes, pods), robust=False), rows)
    assert (found.nodes, found.saving) == (("dear",), 10)


def test_a_search_without_candidates_finds_nothing() -> None:
    found = search(simulation(cluster([node("n1")])), [])
    assert (found.nodes, found.saving, found.steps) == ((), 0, 0)


def test_an_empty_cluster_has_a_board() -> None:
    assert simulation(cluster([], [pod("waits", phase=Phase.PENDING)])).assignments.reservations() == ()


def arrays_of(*kinds: dict[str, Any], nodes: int = 4) -> ClusterArrays:
    rows = [node(f"n{place}", cpu=1 + place, zone="ab"[place % 2]) for place in range(nodes)]
    return ClusterArrays(
        cluster(rows, [pod(f"p{place:04}", kind=pod_class(**kind)) for place, kind in enumerate(kinds)])
    )


@cases(
    "alike, other",
    ("another pod's name", True, {"labels": {"statefulset.kubernetes.io/pod-name": "db-1"}}),
    ("another workload", True, {"owner": "StatefulSet/other", "priority": 7}),
    ("a selector that all nodes have", True, {"node_selector": {names.POOL_LABEL: "a"}}),
    ("other nodes", False, {"node_selector": {names.ZONE_LABEL: "b"}}),
    ("another need", False, {"cpu": 0.2}),
)
def test_classes_that_need_the_same_of_the_same_nodes_share_a_mask(alike: bool, other: dict[str, Any]) -> None:
    arrays = arrays_of({}, other)
    cache = FitCache(arrays, arrays.free.copy(), arrays.destinations)

    assert (cache.of(0) is cache.of(1)) is alike


@pytest.mark.parametrize("touched", [1, CATCH_UP, CATCH_UP + 1])
def test_a_mask_is_as_if_made_again_however_many_nodes_were_touched_since_and_classes_asked(touched: int) -> None:
    arrays = arrays_of(*({"cpu": 1 + place / 1000} for place in range(REMEMBERED + 2)), nodes=40)
    free, is_open = arrays.free.copy(), arrays.destinations.copy()
    cache = FitCache(arrays, free, is_open)
    for kind in (0, 1, *range(2, len(arrays.classes)), 0, 1):
        cache.of(kind)
    for place in range(touched):
        free[arrays.axes.index("cpu"), place % 40] -= 500
        is_open[39] = not is_open[39]
        cache.touch(place % 40)
        cache.touch(39)

    for kind in range(len(arrays.classes)):
        assert np.array_equal(cache.of(kind), FitCache(arrays, free, is_open).of(kind))
