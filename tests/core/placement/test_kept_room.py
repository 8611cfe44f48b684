"""Room that a plan keeps for others: pods of departing, announced, sick and lost nodes, pending pods, and daemons."""

from typing import Any

from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration
from shared.core.placement import NoPlace, Simulation
from tests.builders import NOW, announced_taint, cluster, node, our_taint, pod, pod_class, taint
from tests.core.placement.test_placement import simulation, taken
from tests.depth import cases


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


@cases(
    "expected, announced",
    ("its pod would take the only room", [], [pod("m", on="m1", cpu=1.5)]),
    ("there is room for both", ["n1"], [pod("m", on="m1", cpu=0.5)]),
    ("one that fits nowhere keeps no room", ["n1"], [pod("m", on="m1", cpu=3)]),
    ("nor does a part of such a node", ["n1"], [pod("m", on="m1", cpu=0.5), pod("big", on="m1", cpu=3)]),
    ("room is kept for what is not modelled, too", [], [pod("m", on="m1", cpu=1.5, resource_claims=("gpu",))]),
)
def test_an_announced_node_keeps_the_room_it_is_about_to_take(expected: list[str], announced: list[Pod]) -> None:
    nodes = [node("m1", taints=(announced_taint(),)), node("n1"), node("n2")]
    pods = [*announced, pod("n", on="n1", cpu=1.5), pod("d", on="n2", cpu=2)]
    subject = simulation(cluster(nodes, pods), announced=["m1"])
    assert subject.unplaced == ()
    subject.try_remove("n1")
    assert list(subject.taken) == expected


@cases("expected, cpu", ("in the room that is kept for it", True, 1.5), ("not where it fits nowhere", False, 3))
def test_an_announced_node_can_be_taken_itself(expected: bool, cpu: float) -> None:
    nodes = [node("m1", taints=(announced_taint(),)), node("n2")]
    picture = cluster(nodes, [pod("m", on="m1", cpu=cpu), pod("d", on="n2", cpu=2)])
    subject = simulation(picture, announced=["m1"]).copy()

    assert (subject.announced == {"m1"}) is expected
    assert (subject.try_remove("m1") is None) is expected
    assert (list(subject.taken), subject.announced) == (["m1"] if expected else [], frozenset())
    assert {name: [(move.pod, move.node) for move in moves] for name, moves in subject.assignments.moves().items()} == (
        {"m1": [("default/m", "n2")]} if expected else {}
    )


@cases(
    "expected, leaving",
    ("it still has to go", [], pod("old", on="d1", cpu=2)),
    ("its replacement has come already", ["n1"], pod("old", on="d1", cpu=2, deleting=NOW)),
    ("unless it comes only at the end", [], pod("old", on="d1", cpu=2, deleting=NOW, replaced_at_end=True)),
    ("a StatefulSet waits for its end", [], pod("old", on="d1", cpu=2, deleting=NOW, owner="StatefulSet/db")),
)
def test_a_pod_that_another_drain_is_moving_is_not_counted_twice(expected: list[str], leaving: Pod) -> None:
    nodes = [node("d1", unschedulable=True), node("n1"), node("n2")]
    snapshot = cluster(nodes, [leaving, pod("new", on="n2", cpu=2), pod("a", on="n1", cpu=2)])
    subject = simulation(snapshot, departing=["d1"])
    subject.try_remove("n1")
    assert list(subject.taken) == expected


THERE = pod_class(owner="DaemonSet/x", cpu=3, node_selector={"kubernetes.io/hostname": "n3"})


@cases(
    "expected, homeless",
    ("a pending pod keeps its place", [], pod("waits", cpu=3, phase=Phase.PENDING)),
    ("one that fits nowhere asks for none", ["n1"], pod("waits", cpu=9, phase=Phase.PENDING)),
    ("one that is deleted neither", ["n1"], pod("waits", cpu=3, phase=Phase.PENDING, deleting=NOW)),
    # its node is gone
    ("its controller makes it again, and it needs a place then", [], pod("left", on="gone", cpu=3)),
    ("one that ends has been replaced already", ["n1"], pod("left", on="gone", cpu=3, deleting=NOW)),
    ("one without a controller does not return", ["n1"], pod("left", on="gone", cpu=3, owner=None)),
    ("a daemon went with its node", ["n1"], pod("left", on="gone", cpu=3, owner="DaemonSet/x")),
    # its node is not Ready
    ("it comes back elsewhere when its node stays so", [], pod("sick", on="n3", cpu=3)),
    ("one that fits nowhere holds nobody up", ["n1"], pod("sick", on="n3", cpu=9)),
    ("a daemon stays with its node", ["n1"], pod("sick", on="n3", kind=THERE)),
)
def test_pods_without_a_node_to_run_on_keep_a_place(expected: list[str], homeless: Pod) -> None:
    nodes = [node("n1"), node("n2"), node("n3", cpu=12, ready=False)]
    assert taken(cluster(nodes, [pod("a", on="n1", cpu=2), homeless]), "n1") == expected


def test_pods_of_a_departing_node_that_is_not_ready_are_given_one_place_not_two() -> None:
    nodes = [node("n1", taints=(our_taint(),), ready=False), node("n2")]
    subject = simulation(cluster(nodes, [pod("going", on="n1", cpu=3)]), departing=["n1"])
    assert [(move.pod, move.node) for move in subject.assignments.reservations()] == [("default/going", "n2")]


def test_a_pending_pod_whose_place_is_not_modelled_keeps_the_node_it_may_need() -> None:
    claim = pod("waits", phase=Phase.PENDING, volumes=(Volume("d", "persistentVolumeClaim"),))
    subject = simulation(cluster([node("n1"), node("n2")], [claim]), robust=False)
    assert [(move.pod, move.node) for move in subject.assignments.reservations()] == [("default/waits", "n1")]
    refusal = subject.try_remove("n1")
    assert isinstance(refusal, NoPlace)
    assert refusal.pod.key == "default/waits"


@cases(
    "expected, nominated",
    ("the room on n3 is kept for it", [], "n3"),
    ("nominated nowhere, it is planned onto n2", ["n1"], ""),
    ("its node is gone", ["n1"], "n9"),
    ("a node that has no room for it yet", ["n1"], "n1"),
)
def test_room_that_the_scheduler_keeps_for_a_pod_is_taken(expected: list[str], nominated: str) -> None:
    """Only n3 has room for n1's pod, and n2 for the pending one's, where nothing is kept for it."""
    nodes = [node("n1"), node("n2", cpu=2), node("n3", cpu=3)]
    pods = [pod("mover", on="n1", cpu=3), pod("pending", phase=Phase.PENDING, cpu=2, nominated=nominated)]
    assert taken(cluster(nodes, pods), "n1") == expected


@cases(
    "expected, waits",
    ("what a pod that gives way for it leaves is its own", [], {"nominated": "n2"}),
    ("nominated nowhere, it is planned onto n3", ["n1"], {}),
    ("where it may not run at all", ["n1"], {"nominated": "n2", "node_selector": {"disk": "hdd"}}),
    ("where too little becomes free", ["n1"], {"nominated": "n2", "cpu": 3.5}),
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


SSD = {"disk": "ssd"}
ON_SSD = (NodeTerm((Requirement("disk", "In", ("ssd",)),)),)


def daemon(on: str, cpu: float = 1.5, **spec: Any) -> Pod:
    return pod(f"agent-{on}", on=on, owner="DaemonSet/agent", cpu=cpu, **spec)


@cases(
    "expected, daemons, second",
    ("without a DaemonSet there is room", True, [], {}),
    ("its pod is to come and takes the room", False, [daemon("n1")], {}),
    ("there is room for both", True, [daemon("n1", cpu=1)], {}),
    ("its pod is there and counts once", True, [daemon("n1", cpu=1), daemon("n2", cpu=1)], {}),
    ("its selector leaves the node out", True, [daemon("n1", node_selector=SSD)], {}),
    ("its selector means the node", False, [daemon("n1", node_selector=SSD)], {"labels": SSD}),
    ("its affinity leaves the node out", True, [daemon("n1", node_terms=ON_SSD)], {}),
    ("its affinity means the node", False, [daemon("n1", node_terms=ON_SSD)], {"labels": SSD}),
    ("a pod that has ended shows nothing", True, [daemon("n1", phase=Phase.FAILED)], {}),
    ("of two revisions the most counts", False, [daemon("n1", cpu=0.5), daemon("n3")], {}),
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
