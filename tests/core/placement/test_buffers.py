from typing import Any

import pytest

from shared.core.cluster.autoscaling import Buffers, CapacityBuffer
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, Toleration
from shared.core.cluster.snapshot import Snapshot
from shared.core.draining.admission import lost_place
from shared.core.placement import Candidate, Simulation, search
from shared.core.planning.autoscaler_look import drain_nodes
from shared.core.planning.selection import planned_simulation
from shared.core.reasons import Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import NOW, announced_taint, buffer, claim, cluster, held, node, our_taint, pod, policy, taint
from tests.depth import cases

HOSTNAME = "kubernetes.io/hostname"
SAME = LabelSelector((Requirement("app", "In", ("web",)),))


def picture(buffers: Buffers, **first: Any) -> Snapshot:
    """Three nodes of 4 CPU, with 1 CPU asked for on the first two."""
    nodes = [node("n1", **first), node("n2"), node("n3", labels={"disk": "ssd"}, taints=(taint("gpu"),))]
    return cluster(nodes, [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=1)], buffers=buffers)


def kept_for(simulation: Simulation, name: str = "n1") -> str:
    """The buffer that a node stays for; empty where it stays for a pod."""
    refused = simulation.try_remove(name)
    return refused.buffer if refused else "goes"


GPU = (Toleration("gpu", "Exists"),)


@cases(
    "buffers, kept",
    ("without buffers the node goes", held(), "goes"),
    ("a chunk that has room next to the pods lets it go", held(buffer("web", cpu=2)), "goes"),
    ("a chunk whose room a pod would take", held(buffer("web", cpu=2.5)), "default/web"),
    ("a chunk that has no other place", held(buffer("web", 2, cpu=2.5)), "default/web"),
    ("a chunk that fits nowhere holds nothing", held(buffer("web", cpu=5)), "goes"),
    ("of one that is too large what fits is kept", held(buffer("web", 9, cpu=2.5)), "default/web"),
    ("a node that could take one", held(buffer("web", 2, cpu=3.5)), "default/web"),
    ("a chunk lies only where its selector and tolerations let it",
     held(buffer("web", cpu=2.5, tolerations=GPU, node_selector={"disk": "ssd"})), "goes"),
    ("a chunk that no taint lets in holds nothing", held(buffer("web", cpu=2.5, node_selector={"disk": "ssd"})),
     "goes"),
    ("of several buffers it names the one whose room is missing", held(buffer("a", cpu=0.1), buffer("web", 2, cpu=2.8)),
     "default/web"),
)  # fmt: skip
def test_a_node_stays_as_long_as_a_buffer_needs_its_room(buffers: Buffers, kept: str) -> None:
    assert kept_for(Simulation.of(picture(buffers))) == kept


def test_a_node_that_would_stay_without_buffers_too_does_not_stay_for_them() -> None:
    seen = cluster([node("n1"), node("n2")], [pod("p1", on="n1", cpu=3), pod("p2", on="n2", cpu=3)],
                   buffers=held(buffer("web", cpu=0.5)))  # fmt: skip
    refused = Simulation.of(seen).try_remove("n1")
    assert refused is not None
    assert (refused.buffer, refused.blocker.reason) == ("", Unremovable.NO_PLACE_FOR_PODS)


def test_chunks_keep_apart_where_their_template_shows_it() -> None:
    apart = (PodTerm(HOSTNAME, SAME, ("default",)),)
    chunks = held(buffer("web", 2, cpu=0.5, labels={"app": "web"}, anti_affinity=apart))
    assert Simulation.of(cluster([node("n1"), node("n2"), node("n3")], buffers=chunks)).try_remove("n1") is None
    assert kept_for(Simulation.of(cluster([node("n1"), node("n2")], buffers=chunks))) == "default/web"


def test_the_scheduler_knows_nothing_of_buffers_and_puts_pods_into_their_room() -> None:
    """Packed, the pod would leave n3 to the chunk; by its scoring the scheduler puts it just there."""
    nodes = [node("n1"), node("n2"), node("n3")]
    pods = [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=2)]
    seen = cluster(nodes, pods, buffers=held(buffer("web", cpu=3.5)))
    assert Simulation.of(seen, robust=False).try_remove("n1") is None
    assert kept_for(Simulation.of(seen)) == "default/web"


@cases(
    "expected, cpu",
    ("a chunk that has room next to its pods lets it go", "goes", 2),
    ("a chunk whose room its pods would take", "default/web", 2.5),
)
def test_a_node_that_the_autoscaler_has_announced_stays_for_a_buffer_too(expected: str, cpu: float) -> None:
    announced = (announced_taint(),)
    subject = Simulation.of(picture(held(buffer("web", cpu=cpu)), taints=announced), announced=["n1"])

    assert subject.announced == {"n1"}
    assert kept_for(subject) == expected


def test_headroom_is_room_for_buffers() -> None:
    simulation = Simulation.of(picture(held(buffer("web", cpu=2))), headroom={"a": 25})

    assert simulation.copy().try_remove("n1") is None
    assert simulation.try_remove("n1") is None


def test_headroom_that_chunks_may_take_is_none_for_pods_of_their_size() -> None:
    """n3 has one core free, which is its headroom; the chunk may lie there, the pod of n1 only on n2."""
    nodes = [node("n1"), node("n2"), node("n3")]
    pods = [pod("p", on="n1", cpu=1), pod("full", on="n3", cpu=3, owner="ReplicaSet/full")]
    chunk = buffer("web", cpu=1, labels={"app": "web"}, anti_affinity=(PodTerm(HOSTNAME, SAME, ("default",)),))
    simulation = Simulation.of(cluster(nodes, pods, buffers=held(chunk)), headroom={"a": 25})

    assert simulation.try_remove("n1") is None
    refused = simulation.try_remove("n2")
    assert refused is not None
    assert refused.blocker.reason is Unremovable.NO_PLACE_FOR_PODS


def test_a_node_that_stays_for_a_buffer_offers_no_more_room_than_before() -> None:
    """Emptied, n1 could take the chunk; its pod stays, and leaves n2's no room."""
    pods = [pod("p1", on="n1", cpu=0.5), pod("p2", on="n2", cpu=3.2)]
    seen = cluster([node("n1", cpu=3.5), node("n2")], pods, buffers=held(buffer("web", cpu=3.2)))
    simulation = Simulation.of(seen)

    told = [simulation.try_remove(name) for name in ("n1", "n2")]
    assert [row.buffer for row in told if row] == ["default/web", ""]


def test_what_is_refused_for_a_buffer_leaves_every_strategy_as_it_was() -> None:
    """n1 has to stay for the chunk of n3, which only the second strategy gives away; then it takes the pod of n2."""
    nodes = [node("n1", labels={"disk": "ssd"}), node("n2"), node("n3")]
    pods = [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=2, node_selector={"disk": "ssd"})]
    seen = cluster(nodes, pods, buffers=held(buffer("web", cpu=3.5)))
    assert Simulation.of(seen, robust=False).try_remove("n1") is None
    simulation = Simulation.of(seen)

    refused = simulation.try_remove("n1")
    assert refused is not None
    assert simulation.try_remove("n2") is None


def test_nodes_that_are_open_stay_open_when_chunks_have_been_counted() -> None:
    simulation = Simulation.of(picture(held()))
    packing, kind = simulation.first_packing, 0
    before = list(packing.taking(kind))
    packing.fitting_one_by_one([(kind, 1)], [simulation.arrays.index["n2"]])

    assert list(packing.taking(kind)) == before


@pytest.mark.parametrize("number", [10**9, 2**63 - 1, 2**63, 10**30])
@cases(
    "chunk",
    ("alike", {}),
    ("apart", {"labels": {"app": "web"}, "anti_affinity": (PodTerm(HOSTNAME, SAME, ("default",)),)}),
)
def test_more_chunks_than_any_cluster_holds_take_neither_memory_nor_time(chunk: dict[str, Any], number: int) -> None:
    """A mistyped limit of a buffer must not be what ends a pass: each chunk that has no room has none for the next."""
    seen = cluster([node("n1"), node("n2"), node("n3")], buffers=held(buffer("web", number, cpu=0.5, **chunk)))
    refused = Simulation.of(seen).try_remove("n1")
    assert refused is not None
    assert (refused.buffer, f"of {number} chunks" in refused.detail) == ("default/web", True)


@pytest.mark.parametrize("number", [1, 10**30])
def test_chunks_larger_than_any_node_hold_nothing_however_many_there_are(number: int) -> None:
    assert kept_for(Simulation.of(picture(held(buffer("web", number, cpu=2**60))))) == "goes"


def test_chunks_are_no_evictions() -> None:
    seen = picture(held(buffer("web", 2, cpu=0.5)))
    assert drain_nodes(seen, ["n1"], ()).evictions == 1


def test_a_drain_that_has_not_begun_gives_its_room_back_when_a_buffer_has_lost_every_other() -> None:
    ours = {"unschedulable": True, "taints": (our_taint(),)}
    seen = picture(held(buffer("web", cpu=2.5)), **ours)
    state = ClusterState(claims={"uid-n1": claim("n1", since=NOW)})
    (lost,) = lost_place(seen.node_by_name["n1"], seen, state, ())
    assert (lost.reason, lost.object) == (Unremovable.NEEDED_BY_BUFFER, "default/web")
    roomy = picture(held(buffer("web", cpu=2)), **ours)
    assert lost_place(roomy.node_by_name["n1"], roomy, state, ()) == ()


def test_the_room_that_a_cordoned_node_lends_is_owed_though_it_would_not_be_once_empty() -> None:
    """`cpu` lies on n1 and `memory` on n2; emptied, n1 would be the roomier for `cpu`, which then takes n2 first."""
    nodes = [node("n1", cpu=5, memory=2, unschedulable=True), node("n2", memory=64), node("n3", cpu=1.5, memory=0.2)]
    chunks = held(buffer("cpu", cpu=2.1), buffer("memory", cpu=2, memory=8))
    seen = cluster(nodes, [pod("p", on="n1", cpu=1.5)], buffers=chunks)

    assert kept_for(Simulation.of(seen, cordoned_untouched=["n1"], robust=False)) == "default/memory"


def test_what_follows_a_plan_owes_buffers_what_they_had_before_any_drain() -> None:
    """n1's pod has taken the chunk's room on n2: nothing more goes until it is there again."""
    nodes = [node("n1", taints=(our_taint(),)), node("n2"), node("n3", cpu=0.5)]
    pods = [pod("p", on="n1", cpu=1), pod("q", on="n3")]
    simulation = Simulation.of(cluster(nodes, pods, buffers=held(buffer("web", cpu=3.5))), ["n1"])

    assert kept_for(simulation.with_guide({}), "n3") == "default/web"


def test_buffers_keep_their_room_next_to_a_drain_in_flight() -> None:
    """n1 is being drained and its pod has a place on n2, beside the chunk; n2 then stays for both."""
    ours = {"unschedulable": True, "taints": (our_taint(),)}
    seen = picture(held(buffer("web", cpu=2)), **ours)
    state = ClusterState(claims={"uid-n1": claim("n1")})
    refused = planned_simulation(Situation(seen, state, policy())).try_remove("n2")
    assert refused is not None


def sized(**given: tuple[float, tuple[float, ...]]) -> tuple[list[Node], list[Pod]]:
    """Nodes by name with their CPU and what pods on them ask for."""
    nodes = [node(name, cpu=cpu) for name, (cpu, _) in given.items()]
    rows = ((name, number, asked) for name, (_, pods) in given.items() for number, asked in enumerate(pods))
    return nodes, [pod(f"{name}-{number}", on=name, cpu=asked) for name, number, asked in rows]


@cases(
    "expected, things, chunks",
    ("two small nodes go, of which the chunk needs neither", {"n0", "n1"},
     sized(n0=(2, (1.5, 0.5)), n1=(2, (0.5, 1)), n2=(4, (1.5,)), n3=(4, ())), buffer("web", cpu=3)),
    ("the two empty large ones are the chunks' room", {"n0", "n2"},
     sized(n0=(2, (0.5,)), n1=(4, ()), n2=(2, ()), n3=(4, ())), buffer("web", 2, cpu=3)),
    ("an empty node and a small one", {"n2", "n3"}, sized(n0=(4, (1, 1)), n1=(4, (1,)), n2=(2, (1.5,)), n3=(4, ())),
     buffer("web", cpu=2)),
    ("what has no room now holds nothing", {"n1", "n2", "n3"},
     sized(n0=(2, (0.5,)), n1=(4, ()), n2=(2, ()), n3=(4, ())), buffer("web", cpu=30)),
)  # fmt: skip
def test_the_search_chooses_what_the_proof_of_the_buffers_room_lets_go(
    expected: set[str], things: tuple[list[Node], list[Pod]], chunks: CapacityBuffer
) -> None:
    """A search that only its proof tells of buffers finds one node less in each of the first three."""
    seen = cluster(*things, buffers=held(chunks))
    candidates = [Candidate(any_node.name, cost=any_node.allocatable.get(CPU)) for any_node in seen.nodes]

    found = search(Simulation.of(seen, robust=False), candidates)

    assert set(found.nodes) == expected


def test_headroom_is_kept_however_often_buffers_were_asked_about() -> None:
    """Chunks may lie in it; the question gives it up and takes it back."""
    nodes = [node(f"n{number}") for number in (1, 2, 3)]
    apart = PodTerm(HOSTNAME, LabelSelector((Requirement("app", "In", ("spare",)),)), ("default",))
    pods = [pod("p1", on="n1", cpu=1), pod("p2", on="n2", cpu=1.5)]
    seen = cluster(nodes, pods, buffers=held(buffer("web", cpu=0.1, anti_affinity=(apart,))))
    simulation = Simulation.of(seen, headroom={"a": 50})

    assert simulation.try_remove("n1") is None
    assert simulation.try_remove("n2") is not None
