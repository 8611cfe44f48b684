from typing import Any

import numpy as np
import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, NoPlace, Simulation, search
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import CATCH_UP, REMEMBERED, FitCache
from tests.builders import NOW, cluster, node, our_taint, pod, pod_class, resources, taint


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
@pytest.mark.parametrize(
    ("expected", "per_node", "cpu"),
    [
        pytest.param(0, 1, 2.2, id="five nodes with one pod of 2.2 CPU on 4: none can go"),
        pytest.param(2, 11, 0.2, id="five nodes with eleven pods of 0.2 CPU: they fit on three"),
    ],
)
def test_pods_must_fit_together_on_what_remains(expected: int, per_node: int, cpu: float) -> None:
    kind = pod_class(cpu=cpu)
    pods = [pod(f"p{n}-{number}", on=f"n{n}", kind=kind) for n in range(5) for number in range(per_node)]
    assert len(taken(cluster([node(f"n{n}") for n in range(5)], pods))) == expected


@pytest.mark.acceptance(47)
def test_memory_counts_as_cpu_does() -> None:
    full = [pod(f"p{n}", on=f"n{n}", cpu=0.8, memory=0.95 * 16) for n in range(3)]
    assert taken(cluster([node(f"n{n}") for n in range(3)], full)) == []


@pytest.mark.parametrize(
    ("expected", "other", "spec"),
    [
        pytest.param(["n1"], node("n2"), {}, id="a plain pod goes to a plain node"),
        pytest.param([], node("n2", ready=False), {}, id="not to one that is not ready"),
        pytest.param([], node("n2", unschedulable=True), {}, id="not to one that somebody cordoned"),
        pytest.param([], node("n2", taints=(our_taint(),)), {}, id="not to one with our taint"),
        pytest.param(
            [],
            node("n2", taints=(taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule"),)),
            {},
            id="not to one going",
        ),
        pytest.param([], node("n2", taints=(taint("gpu"),)), {}, id="not past a taint"),
        pytest.param(
            ["n1"], node("n2", taints=(taint("gpu"),)), {"tolerations": (Toleration("gpu", "Exists"),)}, id="tolerated"
        ),
        pytest.param([], node("n2"), {"node_selector": {"disk": "ssd"}}, id="not where the selector does not match"),
        pytest.param(["n1"], node("n2", labels={"disk": "ssd"}), {"node_selector": {"disk": "ssd"}}, id="selected"),
        pytest.param(
            [], node("n2"), {"node_terms": (NodeTerm((Requirement("disk", "Exists"),)),)}, id="not against affinity"
        ),
        pytest.param([], node("n2", pods=0), {}, id="not where the number of pods is reached"),
        pytest.param([], node("n2"), {"requests": resources(1, gpu=1)}, id="not without the extended resource"),
        pytest.param(
            ["n1"],
            node("n2", allocatable=resources(4, 16, pods=110, gpu=1)),
            {"requests": resources(1, gpu=1)},
            id="an extended resource that is there",
        ),
    ],
)
@pytest.mark.acceptance(41, 43)
def test_a_pod_goes_only_where_the_scheduler_would_let_it(
    expected: list[str], other: Node, spec: dict[str, Any]
) -> None:
    assert taken(cluster([node("n1"), other], [pod("p", on="n1", **spec)]), "n1") == expected


@pytest.mark.parametrize("picky", [pytest.param("a", id="asked first"), pytest.param("z", id="asked last")])
@pytest.mark.parametrize(
    ("expected", "labels"),
    [pytest.param([], {}, id="its affinity does not match"), pytest.param(["n1"], {"disk": "ssd"}, id="it matches")],
)
def test_pods_that_differ_in_affinity_alone_are_kept_apart(
    expected: list[str], labels: dict[str, str], picky: str
) -> None:
    terms = (NodeTerm((Requirement("disk", "Exists"),)),)
    pods = [pod("p", on="n1"), pod(picky, on="n1", node_terms=terms)]
    assert taken(cluster([node("n1"), node("n2", labels=labels)], pods), "n1") == expected


@pytest.mark.parametrize(
    ("expected", "mover", "stayer"),
    [
        pytest.param([], {"anti_affinity": apart()}, {}, id="the mover rejects who stays"),
        pytest.param([], {}, {"anti_affinity": apart()}, id="who stays rejects the mover"),
        pytest.param(["n1"], {"anti_affinity": apart(app="db")}, {}, id="it means others"),
        pytest.param(["n1"], {"anti_affinity": apart()}, {"phase": Phase.SUCCEEDED}, id="who stays has finished"),
        pytest.param([], {"anti_affinity": apart()}, {"owner": "DaemonSet/web"}, id="who stays is a daemon"),
        pytest.param([], {"anti_affinity": apart(names.ZONE_LABEL)}, {}, id="in the same zone"),
        pytest.param(["n1"], {"anti_affinity": apart("rack")}, {}, id="nodes without the key are no domain"),
    ],
)
def test_anti_affinity_holds_in_both_directions(
    expected: list[str], mover: dict[str, Any], stayer: dict[str, Any]
) -> None:
    pods = [pod("mover", on="n1", **mover), pod("stayer", on="n2", **stayer)]
    assert taken(cluster([node("n1"), node("n2")], pods), "n1") == expected


def test_what_stays_on_a_cordoned_node_still_holds_its_domain() -> None:
    daemon = pod("daemon", on="n1", owner="DaemonSet/web")
    mover = pod("mover", on="n1", owner="ReplicaSet/x", anti_affinity=apart(names.ZONE_LABEL))
    assert taken(cluster([node("n1"), node("n2")], [daemon, mover]), "n1") == []


def test_what_leaves_its_node_later_holds_its_domain_until_then() -> None:
    """The web may not come back to its zone while the db is still there; who is evicted first is not known."""
    web = pod("web", on="n1", cpu=1, node_selector={names.ZONE_LABEL: "z"})
    rejects: dict[str, Any] = {"labels": {"app": "db"}, "anti_affinity": apart(names.ZONE_LABEL)}
    db = pod("db", on="n1", node_selector={names.ZONE_LABEL: "b"}, **rejects)
    assert taken(cluster([node("n1"), node("n2"), node("n3", zone="b")], [web, db]), "n1") == []


def test_a_pod_leaves_the_domain_it_moves_out_of() -> None:
    mover = pod("mover", on="n1", anti_affinity=apart(names.ZONE_LABEL))
    assert taken(cluster([node("n1"), node("n2")], [mover]), "n1") == ["n1"]


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


def test_pods_of_departing_nodes_get_their_place_first() -> None:
    nodes = [node("n1", taints=(our_taint(),), unschedulable=True), node("n2"), node("n3")]
    pods = [pod("going", on="n1", cpu=3), pod("b", on="n2", cpu=2), pod("c", on="n3", cpu=0.5)]
    assert taken(cluster(nodes, pods), "n2") == ["n2"]
    subject = simulation(cluster(nodes, pods), departing=["n1", "gone"])
    assert isinstance(subject.try_remove("n2"), NoPlace)
    assert [(move.pod, move.node) for move in subject.assignments.reservations()] == [("default/going", "n3")]


def test_nothing_is_taken_while_a_pod_of_a_departing_node_has_no_place() -> None:
    nodes = [node("n1", taints=(our_taint(),)), node("n2"), node("n3")]
    subject = simulation(cluster(nodes, [pod("big", on="n1", cpu=5)]), departing=["n1"])
    refusal = subject.try_remove("n2")
    assert isinstance(refusal, NoPlace)
    assert refusal.pod.key == "default/big"
    assert [row.key for row in subject.unplaced] == ["default/big"]


@pytest.mark.parametrize(
    ("expected", "announced"),
    [
        pytest.param([], [pod("m", on="m1", cpu=1.5)], id="its pod would take the only room"),
        pytest.param(["n1"], [pod("m", on="m1", cpu=0.5)], id="there is room for both"),
        pytest.param(["n1"], [pod("m", on="m1", cpu=3)], id="one that fits nowhere keeps no room"),
        pytest.param(
            ["n1"], [pod("m", on="m1", cpu=0.5), pod("big", on="m1", cpu=3)], id="nor does a part of such a node"
        ),
        pytest.param(
            [], [pod("m", on="m1", cpu=1.5, resource_claims=("gpu",))], id="room is kept for what is not modelled, too"
        ),
    ],
)
def test_an_announced_node_keeps_the_room_it_is_about_to_take(expected: list[str], announced: list[Pod]) -> None:
    nodes = [node("m1", taints=(taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule"),)), node("n1"), node("n2")]
    pods = [*announced, pod("n", on="n1", cpu=1.5), pod("d", on="n2", cpu=2)]
    subject = simulation(cluster(nodes, pods), announced=["m1"])
    assert subject.unplaced == ()
    subject.try_remove("n1")
    assert list(subject.taken) == expected


@pytest.mark.parametrize(
    ("expected", "cpu"),
    [
        pytest.param(True, 1.5, id="in the room that is kept for it"),
        pytest.param(False, 3, id="not where it fits nowhere"),
    ],
)
def test_an_announced_node_can_be_taken_itself(expected: bool, cpu: float) -> None:
    nodes = [node("m1", taints=(taint(names.AUTOSCALER_CANDIDATE_TAINT, "PreferNoSchedule"),)), node("n2")]
    picture = cluster(nodes, [pod("m", on="m1", cpu=cpu), pod("d", on="n2", cpu=2)])
    subject = simulation(picture, announced=["m1"]).copy()

    assert (subject.announced == {"m1"}) is expected
    assert (subject.try_remove("m1") is None) is expected
    assert (list(subject.taken), subject.announced) == (["m1"] if expected else [], frozenset())
    assert {name: [(move.pod, move.node) for move in moves] for name, moves in subject.assignments.moves().items()} == (
        {"m1": [("default/m", "n2")]} if expected else {}
    )


@pytest.mark.parametrize(
    ("expected", "waiting"),
    [
        pytest.param([], pod("waits", cpu=3, phase=Phase.PENDING), id="a pending pod keeps its place"),
        pytest.param(["n1"], pod("waits", cpu=9, phase=Phase.PENDING), id="one that fits nowhere asks for none"),
        pytest.param(["n1"], pod("waits", cpu=3, phase=Phase.PENDING, deleting=NOW), id="one that is deleted neither"),
    ],
)
def test_pods_pending_now_keep_their_place(expected: list[str], waiting: Pod) -> None:
    snapshot = cluster([node("n1"), node("n2")], [pod("a", on="n1", cpu=2), waiting])
    assert taken(snapshot, "n1") == expected


@pytest.mark.parametrize(
    ("expected", "leaving"),
    [
        pytest.param([], pod("old", on="d1", cpu=2), id="it still has to go"),
        pytest.param(["n1"], pod("old", on="d1", cpu=2, deleting=NOW), id="its replacement has come already"),
        pytest.param(
            [], pod("old", on="d1", cpu=2, deleting=NOW, replaced_at_end=True), id="unless it comes only at the end"
        ),
        pytest.param(
            [], pod("old", on="d1", cpu=2, deleting=NOW, owner="StatefulSet/db"), id="a StatefulSet waits for its end"
        ),
    ],
)
def test_a_pod_that_another_drain_is_moving_is_not_counted_twice(expected: list[str], leaving: Pod) -> None:
    nodes = [node("d1", unschedulable=True), node("n1"), node("n2")]
    snapshot = cluster(nodes, [leaving, pod("new", on="n2", cpu=2), pod("a", on="n1", cpu=2)])
    subject = simulation(snapshot, departing=["d1"])
    subject.try_remove("n1")
    assert list(subject.taken) == expected


@pytest.mark.parametrize(
    ("expected", "stranded"),
    [
        pytest.param([], pod("left", on="gone", cpu=3), id="its controller makes it again, and it needs a place then"),
        pytest.param(["n1"], pod("left", on="gone", cpu=3, deleting=NOW), id="one that ends has been replaced already"),
        pytest.param(["n1"], pod("left", on="gone", cpu=3, owner=None), id="one without a controller does not return"),
        pytest.param(["n1"], pod("left", on="gone", cpu=3, owner="DaemonSet/x"), id="a daemon went with its node"),
    ],
)
def test_pods_whose_node_is_gone_keep_a_place(expected: list[str], stranded: Pod) -> None:
    snapshot = cluster([node("n1"), node("n2")], [pod("a", on="n1", cpu=2), stranded])
    assert taken(snapshot, "n1") == expected


THERE = pod_class(owner="DaemonSet/x", cpu=3, node_selector={"kubernetes.io/hostname": "n3"})


@pytest.mark.parametrize(
    ("expected", "stricken"),
    [
        pytest.param([], pod("sick", on="n3", cpu=3), id="it comes back elsewhere when its node stays so"),
        pytest.param(["n1"], pod("sick", on="n3", cpu=9), id="one that fits nowhere holds nobody up"),
        pytest.param(["n1"], pod("sick", on="n3", kind=THERE), id="a daemon stays with its node"),
    ],
)
def test_pods_of_a_node_that_is_not_ready_keep_a_place(expected: list[str], stricken: Pod) -> None:
    nodes = [node("n1"), node("n2"), node("n3", cpu=12, ready=False)]
    assert taken(cluster(nodes, [pod("a", on="n1", cpu=2), stricken]), "n1") == expected


def test_pods_of_a_departing_node_that_is_not_ready_are_given_one_place_not_two() -> None:
    nodes = [node("n1", taints=(our_taint(),), ready=False), node("n2")]
    subject = simulation(cluster(nodes, [pod("going", on="n1", cpu=3)]), departing=["n1"])
    assert [(move.pod, move.node) for move in subject.assignments.reservations()] == [("default/going", "n2")]


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


def test_a_pending_pod_whose_place_is_not_modelled_keeps_the_node_it_may_need() -> None:
    claim = pod("waits", phase=Phase.PENDING, volumes=(Volume("d", "persistentVolumeClaim"),))
    subject = simulation(cluster([node("n1"), node("n2")], [claim]), robust=False)
    assert [(move.pod, move.node) for move in subject.assignments.reservations()] == [("default/waits", "n1")]
    refusal = subject.try_remove("n1")
    assert isinstance(refusal, NoPlace)
    assert refusal.pod.key == "default/waits"


@pytest.mark.parametrize(
    ("expected", "nominated"),
    [
        pytest.param([], "n3", id="the room on n3 is kept for it"),
        pytest.param(["n1"], "", id="nominated nowhere, it is planned onto n2"),
        pytest.param(["n1"], "n9", id="its node is gone"),
        pytest.param(["n1"], "n1", id="a node that has no room for it yet"),
    ],
)
def test_room_that_the_scheduler_keeps_for_a_pod_is_taken(expected: list[str], nominated: str) -> None:
    """Only n3 has room for n1's pod, and n2 for the pending one's, where nothing is kept for it."""
    nodes = [node("n1"), node("n2", cpu=2), node("n3", cpu=3)]
    pods = [pod("mover", on="n1", cpu=3), pod("pending", phase=Phase.PENDING, cpu=2, nominated=nominated)]
    assert taken(cluster(nodes, pods), "n1") == expected


@pytest.mark.parametrize(
    ("expected", "waits"),
    [
        pytest.param([], {"nominated": "n2"}, id="what a pod that gives way for it leaves is its own"),
        pytest.param(["n1"], {}, id="nominated nowhere, it is planned onto n3"),
        pytest.param(["n1"], {"nominated": "n2", "node_selector": {"disk": "hdd"}}, id="where it may not run at all"),
        pytest.param(["n1"], {"nominated": "n2", "cpu": 3.5}, id="where too little becomes free"),
    ],
)
def test_room_that_becomes_free_for_a_nominated_pod_is_taken_too(expected: list[str], waits: dict[str, Any]) -> None:
    """n2 has 2 CPU free and soon 3: they are for the pending pod, though n3, where n1's pod may not run, has room."""
    ssd = {"disk": "ssd"}
    nodes = [node("n1"), node("n2", labels=ssd), node("n3", labels={"disk": "hdd"})]
    ends = pod("ends", on="n2", cpu=1, deleting=NOW)
    stays = pod("stays", on="n2", cpu=1)
    pods = [pod("mover", on="n1", cpu=2, node_selector=ssd), ends, stays]
    pending = pod("pending", phase=Phase.PENDING, **{"cpu": 3, **waits})
    assert taken(cluster(nodes, [*pods, pending]), "n1") == expected


def test_a_pending_daemon_keeps_room_on_its_node_but_never_the_node() -> None:
    here = (NodeTerm(fields=(Requirement("metadata.name", "In", ("n1",)),)),)
    daemon = pod("daemon", owner="DaemonSet/x", phase=Phase.PENDING, node_terms=here, cpu=3)
    snapshot = cluster([node("n1"), node("n2")], [daemon, pod("a", on="n2", cpu=2)])
    assert taken(snapshot, "n1") == ["n1"]
    assert taken(snapshot, "n2") == []


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


SSD = {"disk": "ssd"}
ON_SSD = (NodeTerm((Requirement("disk", "In", ("ssd",)),)),)


def daemon(on: str, cpu: float = 1.5, **spec: Any) -> Pod:
    return pod(f"agent-{on}", on=on, owner="DaemonSet/agent", cpu=cpu, **spec)


@pytest.mark.parametrize(
    ("expected", "daemons", "second"),
    [
        pytest.param(True, [], {}, id="without a DaemonSet there is room"),
        pytest.param(False, [daemon("n1")], {}, id="its pod is to come and takes the room"),
        pytest.param(True, [daemon("n1", cpu=1)], {}, id="there is room for both"),
        pytest.param(True, [daemon("n1", cpu=1), daemon("n2", cpu=1)], {}, id="its pod is there and counts once"),
        pytest.param(True, [daemon("n1", node_selector=SSD)], {}, id="its selector leaves the node out"),
        pytest.param(False, [daemon("n1", node_selector=SSD)], {"labels": SSD}, id="its selector means the node"),
        pytest.param(True, [daemon("n1", node_terms=ON_SSD)], {}, id="its affinity leaves the node out"),
        pytest.param(False, [daemon("n1", node_terms=ON_SSD)], {"labels": SSD}, id="its affinity means the node"),
        pytest.param(True, [daemon("n1", phase=Phase.FAILED)], {}, id="a pod that has ended shows nothing"),
        pytest.param(False, [daemon("n1", cpu=0.5), daemon("n3")], {}, id="of two revisions the most counts"),
    ],
)
def test_a_daemon_pod_still_to_come_keeps_its_room(expected: bool, daemons: list[Pod], second: dict[str, Any]) -> None:
    """n1 has a pod of 3 CPU, n2 has 4, and n3 room for a daemon alone."""
    nodes = [node("n1"), node("n2", **second), node("n3", cpu=1.6)]
    seen = cluster(nodes, [pod("p1", on="n1", cpu=3), *daemons])
    assert (Simulation.of(seen).try_remove("n1") is None) is expected


def test_a_taint_that_a_daemon_set_does_not_tolerate_keeps_its_pods_away() -> None:
    """The pod that moves tolerates it, the DaemonSet only in the second case."""
    gpu = (Toleration("gpu", "Exists"),)
    nodes = [node("n1"), node("n2", taints=(taint("gpu"),))]
    moving = pod("p1", on="n1", cpu=3, tolerations=gpu)
    assert Simulation.of(cluster(nodes, [moving, daemon("n1")])).try_remove("n1") is None
    assert Simulation.of(cluster(nodes, [moving, daemon("n1", tolerations=gpu)])).try_remove("n1") is not None


def arrays_of(*kinds: dict[str, Any], nodes: int = 4) -> ClusterArrays:
    rows = [node(f"n{place}", cpu=1 + place, zone="ab"[place % 2]) for place in range(nodes)]
    return ClusterArrays(
        cluster(rows, [pod(f"p{place:04}", kind=pod_class(**kind)) for place, kind in enumerate(kinds)])
    )


@pytest.mark.parametrize(
    ("alike", "other"),
    [
        pytest.param(True, {"labels": {"statefulset.kubernetes.io/pod-name": "db-1"}}, id="another pod's name"),
        pytest.param(True, {"owner": "StatefulSet/other", "priority": 7}, id="another workload"),
        pytest.param(True, {"node_selector": {names.POOL_LABEL: "a"}}, id="a selector that all nodes have"),
        pytest.param(False, {"node_selector": {names.ZONE_LABEL: "b"}}, id="other nodes"),
        pytest.param(False, {"cpu": 0.2}, id="another need"),
    ],
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
