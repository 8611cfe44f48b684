from dataclasses import replace
from datetime import timedelta
from typing import Any

from msgspec import structs

from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.names import HOSTNAME_LABEL, MIRROR, ZONE_LABEL
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.demand import nodes_for_buffers, nodes_to_return
from tests.builders import NOW, buffer, cluster, node, our_taint, pod, taint
from tests.builders import held as holding
from tests.depth import cases


def held(name: str, **changes: Any) -> Node:
    return replace(node(name), unschedulable=True, taints=(our_taint(name),), **changes)


def pending(name: str, cpu: float = 1, **changes: Any) -> Pod:
    return pod(name, cpu=cpu, **{"unschedulable_since": NOW, **changes})


def names(snapshot: Snapshot) -> dict[str, str]:
    ours = [any_node for any_node in snapshot.nodes if any_node.drain_taint]
    found = nodes_to_return(snapshot, ours).items()
    return {name: row.pod.name for name, row in found if row.not_before is None}


FULL = [node("open"), pod("big", on="open", cpu=3.5)]


@cases(
    "expected, waits",
    ("a pod that fits only on a held node", {"h1": "p"}, [pending("p")]),
    ("a pod that fits on an open node is held by something else", {}, [pending("p", cpu=0.2)]),
    ("a pod that fits nowhere", {}, [pending("p", cpu=9)]),
    ("a pod that asks for another node", {}, [pending("p", node_selector={"gpu": "yes"})]),
    ("two pods that fit on one node take one node", {"h1": "p1"}, [pending("p1", cpu=2), pending("p2", cpu=2)]),
    ("two big pods take a node each", {"h1": "p1", "h2": "p2"}, [pending("p1", cpu=3), pending("p2", cpu=3)]),
    ("a pod that has a node by now", {}, [pending("p", on="open")]),
    ("a pod that is being deleted wants no node any more", {}, [pending("p", deleting=NOW)]),
    ("a pod that has finished wants no node any more", {}, [pending("p", phase=Phase.FAILED)]),
    ("what is not modelled is not held against it", {"h1": "p"}, [pending("p", resource_claims=("gpu",))]),
    ("a pod that the scheduler has not judged yet", {}, [pod("p", cpu=1)]),
    ("a DaemonSet's pod is bound to its own node", {}, [pending("p", owner="DaemonSet/agent")]),
    ("a mirror pod is bound to its own node", {}, [pending("p", annotations={MIRROR: "x"})]),
)
def test_a_held_node_is_returned_only_for_a_pod_it_would_take(expected: dict[str, str], waits: list[Pod]) -> None:
    open_node, big = FULL
    picture = cluster([open_node, held("h1"), held("h2")], [big, *waits])  # type: ignore[list-item]  # one node, one pod

    assert expected == names(picture)


def test_the_emptiest_held_node_is_asked_first() -> None:
    picture = cluster([held("h1"), held("h2")], [pod("left", on="h1", cpu=2), pending("p")])

    assert names(picture) == {"h2": "p"}


def test_of_held_nodes_alike_the_first_by_name_goes_back_in_whatever_order_they_are_shown() -> None:
    nodes = [held(f"h{number}") for number in range(3)]

    assert {
        name: row.pod.name for name, row in nodes_to_return(cluster(nodes, [pending("p")]), reversed(nodes)).items()
    } == {"h0": "p"}


def apart(key: str = HOSTNAME_LABEL) -> dict[str, Any]:
    """What keeps pods of the app `web` apart."""
    return {"anti_affinity": (PodTerm(key, LabelSelector((Requirement("app", "In", ("web",)),)), ("default",)),)}


@cases(
    "expected, open_pods, waits",
    ("it rejects who is there", {"h2": "p"}, [pod("x", on="open", cpu=3.5)], [pending("p", **apart())]),
    ("who is there rejects it", {"h2": "p"}, [pod("x", on="open", cpu=3.5)], [pending("p", labels={"app": "web"})]),
    ("an open node that has room and allows it", {}, [], [pending("p", **apart())]),
    ("open, but forbidden", {"h2": "p"}, [pod("x", on="open", **apart())], [pending("p", **apart())]),
    ("two that reject each other do not both fit on one node", {"h2": "p1"}, [pod("x", on="open", **apart())],
     [pending("p1", **apart()), pending("p2", **apart())]),
    ("their whole zone is forbidden", {}, [pod("x", on="open", cpu=3.5)], [pending("p", **apart(ZONE_LABEL))]),
)  # fmt: skip
def test_a_held_node_is_not_returned_for_a_pod_whose_anti_affinity_forbids_it(
    expected: dict[str, str], open_pods: list[Pod], waits: list[Pod]
) -> None:
    """h1 has more room than h2, but there the last pod of the app is still on its way out."""
    leaving = pod("leaving", on="h1", cpu=0.1, **apart())
    other = pod("other", on="h2", cpu=1, labels={"app": "other"})
    picture = cluster([node("open"), held("h1"), held("h2")], [leaving, other, *open_pods, *waits])

    assert expected == names(picture)


@cases(
    "expected, changes", ("there it would fit", {}, {}), ("not on a cordoned one", {"h1": "p"}, {"unschedulable": True})
)
def test_an_open_node_of_a_pool_that_is_upgraded_still_takes_the_pod_today(
    expected: dict[str, str], changes: dict[str, Any]
) -> None:
    upgraded = replace(node("open", pool="b"), **changes)
    picture = cluster([upgraded, held("h1")], [pending("p")], pools={"b": NodePool("b", upgrading=True)})

    assert expected == names(picture)


@cases(
    "expected, changes",
    ("not Ready for the moment", {"h1": "p"}, {"ready": False}),
    ("tainted by somebody else as well", {}, {"taints": (our_taint("h1"), taint("broken"))}),
)
def test_a_held_node_takes_what_it_admits_once_our_taint_and_cordon_are_gone(
    expected: dict[str, str], changes: dict[str, Any]
) -> None:
    picture = cluster([replace(held("h1"), **changes)], [pending("p")])

    assert expected == names(picture)


def test_without_waiting_pods_or_held_nodes_nothing_is_returned() -> None:
    assert names(cluster([held("h1")], [pod("p", on="h1")])) == {}
    assert names(cluster([node("n1", cpu=0.5)], [pending("p")])) == {}


def ago(seconds: int) -> dict[str, Any]:
    """What has waited for so long."""
    return {"unschedulable_since": NOW - timedelta(seconds=seconds)}


def ends(seconds: int = 30, on: str = "open", cpu: float = 1.5, **changes: Any) -> Pod:
    """What a node has free in so many seconds."""
    return pod("ends", on=on, cpu=cpu, deleting=NOW + timedelta(seconds=seconds), **changes)


STAYS = pod("stays", on="open", cpu=1.5)


def preempts(name: str = "p", **changes: Any) -> Pod:
    return pending(name, **{"cpu": 2, "priority": 100, "nominated": "open", **changes})


@cases(
    "expected, there, waits",
    ("a pod that has its place as soon as another has ended", {}, [ends()], [preempts()]),
    ("the scheduler keeps no room for it", {"h1": "p"}, [ends()], [preempts(nominated="")]),
    ("its node is gone", {"h1": "p"}, [ends()], [preempts(nominated="gone")]),
    ("its node is one that we hold", {"h2": "p"}, [STAYS, ends(on="h1", cpu=3)], [preempts(nominated="h1")]),
    ("its node is cordoned", {"h1": "p"}, [STAYS, ends(on="shut", cpu=3)], [preempts(nominated="shut")]),
    ("what ends leaves too little", {"h1": "p"}, [ends()], [preempts(cpu=2.1)]),
    ("nothing ends there", {"h1": "p"}, [], [preempts(cpu=2.1)]),
    ("what is there stays", {"h1": "p"}, [STAYS], [preempts()]),
    ("what has ended leaves nothing more", {"h1": "p"}, [STAYS, ends(phase=Phase.SUCCEEDED)], [preempts()]),
    ("what ends does not give way for it", {"h1": "p"}, [ends(priority=100)], [preempts()]),
    ("what ends is of the next lower priority", {}, [ends(priority=99)], [preempts()]),
    ("its node does not admit it", {"h1": "p"}, [ends()], [preempts(node_selector={"gpu": "no"})]),
    ("what ends may take a minute and a half", {}, [ends(90)], [preempts()]),
    ("what ends takes longer", {"h1": "p"}, [ends(91)], [preempts()]),
    ("counted from when it began to wait", {"h1": "p"}, [ends(31)], [preempts(**ago(60))]),
    ("what ends in this moment", {}, [ends(0)], [preempts(**ago(89))]),
    ("what should have ended may never end", {"h1": "p"}, [ends(-1)], [preempts(**ago(31))]),
    ("it has waited for a minute and a half", {"h1": "p"}, [ends(0)], [preempts(**ago(90))]),
    ("one end is room for one of two", {"h1": "p2"}, [ends()], [preempts("p1"), preempts("p2")]),
    ("and for two that share it", {}, [ends()], [preempts("p1", cpu=1), preempts("p2", cpu=1)]),
    ("what is free there is not another pod's", {"h1": "a"}, [ends()], [pending("a", cpu=0.4), preempts()]),
)
def test_a_pod_that_others_give_way_to_asks_for_no_held_node_yet(
    expected: dict[str, str], there: list[Pod], waits: list[Pod]
) -> None:
    """`open` has 2 CPU beside what stays, and 0.5 until another pod has ended."""
    labels = {"gpu": "no"}
    nodes = [node("open"), replace(node("shut"), unschedulable=True), held("h1", labels=labels), held("h2")]
    picture = cluster(nodes, [pod("big", on="open", cpu=2), *there, *waits])

    assert expected == names(picture)


def test_a_pod_that_we_moved_does_not_wait_for_others_to_end() -> None:
    picture = cluster(
        [node("open"), held("h1")], [pod("big", on="open", cpu=2), ends(), preempts(owner="ReplicaSet/web")]
    )
    ours = [any_node for any_node in picture.nodes if any_node.drain_taint]

    (found,) = nodes_to_return(picture, ours, moved={"default/ReplicaSet/other"}).values()
    assert found.not_before == NOW + timedelta(seconds=35)
    (found,) = nodes_to_return(picture, ours, moved={"default/ReplicaSet/web"}).values()
    assert found.not_before is None


def test_a_pod_that_others_give_way_to_asks_for_a_held_node_once_the_last_of_them_should_be_gone() -> None:
    there = [
        pod("big", on="open", cpu=2),
        ends(30, cpu=0.75),
        structs.replace(ends(45, cpu=0.75), name="ends-2", uid="e2"),
    ]
    picture = cluster([node("open"), held("h1"), held("h2")], [*there, preempts("p1"), pending("p2", cpu=4)])
    ours = [any_node for any_node in picture.nodes if any_node.drain_taint]

    found = nodes_to_return(picture, ours)

    assert {row.pod.name: row.not_before for row in found.values()} == {"p1": NOW + timedelta(seconds=50), "p2": None}


def needed(buffers: Buffers) -> dict[str, str]:
    """An open node has 1 CPU left, a held one 3 and the other 2."""
    ours = [replace(node(name), unschedulable=True, taints=(our_taint(name),)) for name in ("h1", "h2")]
    pods = [pod("big", on="open", cpu=3), pod("p1", on="h1", cpu=1), pod("p2", on="h2", cpu=2)]
    seen = cluster([node("open"), *ours], pods, buffers=buffers)
    return dict(nodes_for_buffers(seen, ours))


@cases(
    "expected, buffers",
    ("no buffers", {}, holding()),
    ("there is room on an open node", {}, holding(buffer("web", cpu=1))),
    ("only a held node has room", {"h1": "default/web"}, holding(buffer("web", cpu=1.5))),
    ("two chunks on one node take one node", {"h1": "default/web"}, holding(buffer("web", 2, cpu=1.5))),
    ("two that need a node each", {"h1": "default/web", "h2": "default/web"}, holding(buffer("web", 2, cpu=1.8))),
    ("a chunk that no node could take", {}, holding(buffer("web", cpu=9))),
    ("one for other nodes", {}, holding(buffer("web", cpu=1.5, node_selector={"gpu": "yes"}))),
    ("the autoscaler shows that it has its room", {}, holding(buffer("web", cpu=1.5, ready=1))),
    ("it shows that one lacks it", {"h1": "default/web"}, holding(buffer("web", 2, cpu=1.5, ready=1))),
)
def test_a_held_node_is_returned_for_a_buffer_that_has_room_nowhere_else(
    expected: dict[str, str], buffers: Buffers
) -> None:
    assert needed(buffers) == expected
