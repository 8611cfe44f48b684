"""Required pod affinity, case by case, as the scheduler's InterPodAffinity plugin judges it.

Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, named by function in each table, and
k8s.io/kube-scheduler/framework `AffinityTerm.Matches`. What goes beyond one pod on one node (pods leave one after
another, nodes that go) is Ebb's own caution and says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Phase, Pod, PodClass
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints.constraint import ConstraintInput
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import POTENTIAL
from tests.builders import NOW, cluster, node, our_taint, pod, taint
from tests.depth import cases

HOST, ZONE, RACK = names.HOSTNAME_LABEL, names.ZONE_LABEL, "rack"
SPACES = {"default": {"team": "a"}, "other": {"team": "b"}}


def labelled(**labels: str) -> LabelSelector:
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in labels.items()))


def term(app: str, key: str = ZONE, *spaces: str, **changes: Any) -> PodTerm:
    return PodTerm(key, changes.pop("selector", labelled(app=app)), spaces or ("default",), **changes)


def taken(
    nodes: list[Node],
    pods: list[Pod],
    *order: str,
    pools: Mapping[str, NodePool] | None = None,
    departing: Sequence[str] = (),
    closed: Sequence[str] = (),
) -> list[str]:
    proof = Simulation.of(cluster(nodes, pods, pools=pools, namespaces=SPACES), departing, closed=closed)
    return [name for name in order or ("n1",) if proof.try_remove(name) is None]


def takers(nodes: list[Node], pods: list[Pod], *terms: PodTerm) -> str:
    """Return the nodes that would take a pod `mover` with these terms."""
    arrays = ClusterArrays(cluster(nodes, [*pods, mover(*terms)], namespaces=SPACES))
    takes = Packing(arrays, POTENTIAL[0]).taking(arrays.kind_of[mover_of(arrays)])
    return " ".join(node.name for node, taken_by in zip(arrays.nodes, takes, strict=True) if taken_by)


def mover_of(arrays: ClusterArrays) -> PodClass:
    return next(pod.spec for pod in arrays.pending if pod.name == "mover")


def mover(*terms: PodTerm, on: str = "", name: str = "mover") -> Pod:
    return pod(name, on=on, owner="ReplicaSet/mover", affinity=terms)


def db(name: str, on: str, owner: str = "ReplicaSet", **changes: Any) -> Pod:
    return pod(name, on=on, owner=f"{owner}/db", **changes)


ZONES = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4", zone="b")]


@cases(
    "expected, asked, there",
    ("the zone of its companion", "n3 n4", term("db"), [db("d", "n3")]),
    ("the node of its companion", "n3", term("db", HOST), [db("d", "n3")]),
    ("any domain with one", "n1 n2 n3 n4", term("db"), [db("d", "n3"), db("e", "n1")]),
    ("nobody there that it asks for", "", term("db"), []),
    ("others do not count", "", term("db"), [pod("d", on="n3", owner="ReplicaSet/x")]),
    ("nor does one that has finished", "", term("db"), [db("d", "n3", phase=Phase.SUCCEEDED)]),
    ("a term without selector means no pod", "", term("db", selector=None), [db("d", "n3")]),
    ("an empty one means every pod", "n3 n4", term("", selector=LabelSelector()), [db("d", "n3")]),
    ("every node must have the topology key", "", term("db", RACK), [db("d", "n3")]),
)
def test_a_node_must_lie_in_a_domain_with_a_pod_that_the_term_means(
    expected: str, asked: PodTerm, there: list[Pod]
) -> None:
    """satisfyPodAffinity."""
    assert takers(ZONES, there, asked) == expected


@cases(
    "expected, there",
    ("one pod that both terms mean", "n3", [db("d", "n3", labels={"app": "db", "tier": "x"})]),
    ("two that one term each means", "", [db("d", "n3"), db("e", "n3", labels={"tier": "x"})]),
    ("one that a single term means opens nothing next to", "n3",
     [db("d", "n3", labels={"app": "db", "tier": "x"}), db("e", "n4")]),
)  # fmt: skip
def test_only_a_pod_that_all_terms_mean_counts_for_any(expected: str, there: list[Pod]) -> None:
    """podMatchesAllAffinityTerms, updateWithAffinityTerms."""
    assert takers(ZONES, there, term("db", HOST), term("", selector=labelled(tier="x"))) == expected


def test_the_keys_of_several_terms_may_be_met_by_different_pods() -> None:
    """satisfyPodAffinity counts pairs of key and value: one pod brings the zone, another the rack."""
    racks = [("n1", "c", "1"), ("n2", "a", "1"), ("n3", "b", "2"), ("n4", "a", "2"), ("n5", "a", "3")]
    nodes = [node(name, zone=zone, labels={RACK: rack}) for name, zone, rack in racks]

    assert takers(nodes, [db("d", "n2"), db("e", "n3")], term("db"), term("db", RACK)) == "n2 n3 n4"


@cases(
    "moves, asked, namespace",
    ("the pod's own", True, term("db"), "default"),
    ("not another", False, term("db"), "other"),
    ("one that is listed", True, term("db", ZONE, "other"), "other"),
    ("its own if it is not listed", False, term("db", ZONE, "other"), "default"),
    ("all", True, PodTerm(ZONE, labelled(app="db"), (), LabelSelector()), "other"),
    ("by its labels", True, PodTerm(ZONE, labelled(app="db"), (), labelled(team="b")), "other"),
    ("no other labels", False, PodTerm(ZONE, labelled(app="db"), (), labelled(team="b")), "default"),
    ("listed next to", True, PodTerm(ZONE, labelled(app="db"), ("default",), labelled(team="b")), "default"),
)
def test_in_whose_namespaces_pods_are_meant(moves: bool, asked: PodTerm, namespace: str) -> None:
    """getNamespacesFromPodAffinityTerm, mergeAffinityTermNamespacesIfNotEmpty."""
    assert takers(ZONES, [db("d", "n3", namespace=namespace)], asked) == ("n3 n4" if moves else "")


ITSELF = term("mover")
FIRST = mover(on="n3", name="first")


@cases(
    "expected, nodes, there, terms",
    ("anywhere", "n1 n2 n3 n4", ZONES, [], (ITSELF,)),
    ("anywhere with the key", "n1 n3", [ZONES[0], node("n2", zone=""), ZONES[2]], [], (ITSELF,)),
    ("with all the keys", "", ZONES, [], (ITSELF, term("mover", RACK))),
    ("not if one of its terms means others", "", ZONES, [], (ITSELF, term("db"))),
    ("the second follows", "n3", ZONES, [FIRST], (term("mover", HOST),)),
    ("and waits where there is no room", "", [*ZONES[:2], node("n3", pods=1)], [FIRST], (ITSELF,)),
    ("one on a node without a key is none", "n1 n2", [*ZONES[:2], node("n3", zone="")], [FIRST], (ITSELF,)),
    ("one on a node with some of the keys is there, and opens nothing", "",
     [node("n1", labels={RACK: "1"}), node("n3")], [FIRST], (ITSELF, term("mover", RACK))),
)  # fmt: skip
def test_the_first_pod_of_a_group(
    expected: str, nodes: list[Node], there: list[Pod], terms: tuple[PodTerm, ...]
) -> None:
    """satisfyPodAffinity: no pod is counted anywhere, the pod's own terms mean it, and the node has all the keys."""
    assert takers(nodes, there, *terms) == expected


@cases(
    "moves, there",
    ("a pod that stays", True, db("d", "n3")),
    ("a DaemonSet's on a node that stays", True, db("d", "n3", owner="DaemonSet")),
    ("a DaemonSet's that goes with the node", False, db("d", "n1", owner="DaemonSet")),
    ("one that is terminating", False, db("d", "n3", deleting=NOW)),
    ("one on a node that is not Ready", False, db("d", "n5")),
    ("one on a node that somebody cordoned", False, db("d", "n6")),
    ("one on a node that the autoscaler deletes", False, db("d", "n7")),
    ("one on a node that is being upgraded", False, db("d", "n8")),
    ("one that waits for a node itself", False, db("d", "")),
)
def test_a_pod_relies_on_companions_that_stay(moves: bool, there: Pod) -> None:
    """Ebb's caution: the scheduler counts every pod that has a node, and the next minute it is gone."""
    going = [
        node("n5", zone="b", ready=False),
        node("n6", zone="b", unschedulable=True),
        node("n7", zone="b", taints=(taint(names.AUTOSCALER_DELETING_TAINT),)),
        node("n8", zone="b", pool="b"),
    ]
    pools = {"b": NodePool("b", upgrading=True)}

    assert taken([*ZONES, *going], [mover(term("db"), on="n1"), there], pools=pools) == (["n1"] if moves else [])


@cases(
    "moves, nodes, there",
    ("all of a group leave one node of their zone", True, ZONES, [mover(ITSELF, on="n1", name="b")]),
    ("not while the last of them holds the others in a zone without room", False, [node("n1", zone="a"), *ZONES[2:]],
     [mover(ITSELF, on="n1", name="b")]),
    ("the last one alone goes anywhere", True, [node("n1", zone="a"), *ZONES[2:]], []),
    ("not next to a daemon that it asks for, too", False, [node("n1", zone="a"), *ZONES[2:]],
     [pod("d", on="n1", owner="DaemonSet/mover")]),
    ("unless the daemon's zone has room elsewhere", True, ZONES, [pod("d", on="n1", owner="DaemonSet/mover")]),
    ("one domain must do for all that may be left or gone", False, [*ZONES, node("n5", zone="c", unschedulable=True)],
     [pod("d", on="n1", owner="DaemonSet/mover"), pod("e", on="n5", owner="DaemonSet/mover")]),
)  # fmt: skip
def test_each_pod_of_a_group_is_placed_while_the_rest_still_stands(
    moves: bool, nodes: list[Node], there: list[Pod]
) -> None:
    """A replacement that waits for the exception of the first pod would wait until the last companion has left."""
    assert taken(nodes, [mover(ITSELF, on="n1", name="a"), *there]) == (["n1"] if moves else [])


def test_pods_that_stay_need_nothing_when_their_companions_leave() -> None:
    """IgnoredDuringExecution: the follower stays on n3, alone in its zone, and moves no more."""
    follower = mover(term("db"), on="n3")
    nodes = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"), node("n4", zone="b", cpu=0.05)]
    full = pod("full", on="n3", owner="ReplicaSet/full", cpu=3.75)

    assert taken(nodes, [db("d", "n4", cpu=0.05), follower, full], "n4") == ["n4"]


def test_nobody_relies_on_a_companion_that_moves_in_the_same_plan() -> None:
    """Nodes are drained at once: it may still be in its old place when the follower is evicted, or have none yet."""
    nodes = [node("n1", zone="c"), node("n2", zone="a"), node("n3", zone="b"), node("n4", zone="b")]
    moved = [db("d", "n3"), mover(term("db"), on="n1")]

    assert taken(nodes, moved, "n3", "n1") == ["n3"]
    assert taken(nodes, [*moved, db("e", "n4")], "n3", "n1") == ["n3", "n1"]


def test_the_last_companion_of_a_pod_that_was_placed_next_to_it_stays() -> None:
    """Otherwise it might be gone before the pod is evicted: what is placed must hold in the end, too."""
    nodes = [node("n1", zone="c"), node("n2", zone="a"), node("n3", zone="b"), node("n4", zone="b")]
    pods = [mover(term("db"), on="n1"), db("d", "n3"), db("e", "n4")]

    assert taken(nodes, pods, "n1", "n3", "n4") == ["n1", "n3"]
    assert taken(nodes, pods[1:], "n3", "n4") == ["n3", "n4"]


def test_a_group_that_is_moved_with_a_pod_that_does_not_ask_for_it_stays_in_one_domain() -> None:
    """The pod on n3 may go anywhere; who asks for it must find it in its old zone and in its new one."""
    asks = pod("asks", on="n1", owner="ReplicaSet/db", affinity=(term("db"),))
    zones = [node("n1", zone="b"), node("n3", zone="b", cpu=0.2)]
    far, same = node("n4", zone="a"), node("n4", zone="b")

    assert taken([*zones, far], [asks, db("d", "n3")], "n3", "n1") == ["n3"]
    assert taken([*zones, same, node("n5", zone="b")], [asks, db("d", "n3")], "n3", "n1") == ["n3", "n1"]


@cases("expected, departing", ("stays", ["n1"], []), ("departs", [], ["n3"]))
def test_companions_on_departing_nodes_are_counted_where_they_go(expected: list[str], departing: list[str]) -> None:
    """n3's pod moves to zone a, where the follower finds no room; where n3 stays it may go there."""
    nodes = [node("n1", zone="c"), node("n2", zone="a", cpu=0.15), node("n3", zone="b")]
    nodes = [
        any_node if any_node.name not in departing else node("n3", zone="b", taints=(our_taint(),))
        for any_node in nodes
    ]
    pods = [db("d", "n3"), mover(term("db"), on="n1")]

    assert taken(nodes, pods, departing=departing) == expected


def test_a_node_that_may_go_or_stay_is_not_relied_on() -> None:
    pods = [mover(term("db"), on="n1"), db("d", "n3")]

    assert taken(ZONES, pods) == ["n1"]
    assert taken(ZONES, pods, closed=["n3"]) == []


def test_a_pod_that_found_a_place_in_the_proof_alone_is_not_relied_on_wherever_it_is_moved() -> None:
    """Nobody knows whether a waiting pod ever gets the place that the proof keeps for it."""
    waits = db("waits", "")
    nodes = [node("n1", zone="a"), node("n2", zone="b", cpu=0.5), node("n3", zone="c")]

    assert taken(nodes, [mover(term("db"), on="n1"), waits], "n2", "n1") == ["n2"]


def test_a_refused_removal_leaves_the_counts_as_they_were() -> None:
    nodes = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b", cpu=0.35)]
    stuck = pod("stuck", on="n2", owner="ReplicaSet/big", cpu=3.95)
    pods = [db("d", "n2"), stuck, mover(term("db"), on="n3")]
    proof = Simulation.of(cluster(nodes, pods, namespaces=SPACES))

    assert [name for name in ("n2", "n3") if proof.try_remove(name) is None] == ["n3"]
    assert {move.pod: move.node for move in proof.assignments.moves()["n3"]} == {"default/mover": "n1"}


def test_of_several_pods_without_a_place_none_is_the_first_of_its_group() -> None:
    """The one that fits nowhere may still stand in the zone that they leave."""
    nodes = [node("n1", zone="a"), node("n2", zone="b", cpu=2)]
    group = [
        pod("big", on="n1", owner="ReplicaSet/big", cpu=3, labels={"app": "g"}, affinity=(term("g"),)),
        pod("small", on="n1", owner="ReplicaSet/small", labels={"app": "g"}, affinity=(term("g"),)),
    ]

    proof = Simulation.of(cluster(nodes, group, namespaces=SPACES), ["n1"])

    assert {row.name for row in proof.unplaced} == {"big", "small"}


@cases(
    "expected, zone",
    ("to another zone: nobody knows in which of the two it is", ["n1"], "a"),
    ("within its zone", ["n1", "n2"], "b"),
)
def test_where_a_companion_goes_that_nobody_relied_on_decides_for_who_went_next_to_it(
    expected: list[str], zone: str
) -> None:
    """n2 is cordoned, so nobody relies on its pod; who asks for it stays in the one zone where it is for now."""
    asks = pod("asks", on="n1", owner="ReplicaSet/db", affinity=(term("db"),))
    nodes = [node("n1", zone="b"), node("n2", zone="b", unschedulable=True), node("n3", zone="b", cpu=0.15),
             node("n4", zone=zone)]  # fmt: skip

    assert taken(nodes, [asks, db("d", "n2")], "n1", "n2") == expected


def test_a_place_on_a_closed_node_is_asked_about_once_it_is_open_again() -> None:
    """Its companion has left the zone meanwhile."""
    follower = mover(term("db"))
    snapshot = cluster(ZONES, [follower, db("d", "")], namespaces=SPACES)
    arrays = ClusterArrays(snapshot)
    kinds = [follower.spec, db("d", "").spec]
    state = RequiredAffinity(ConstraintInput(snapshot, kinds, arrays.node_filters)).state()
    state.add(1, 2)
    state.close(0)
    state.place(0, 0)
    assert state.find_misplaced() is None

    state.reopen(0)
    assert state.find_misplaced() == 0
