"""When the simulated autoscaler does what: cluster-autoscaler's loop and scale-down in the chart's two profiles."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from functions.cli.analysis.simulated_days.patterns import ReplicaChange
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Onlooker, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.pod import Pod
from shared.core.policy import Limit
from tests.builders import NOW, cluster, node, pdb, pod, taint
from tests.depth import cases

PACKING: Final = "OPTIMIZE_UTILIZATION"
WORDS: Final = {names.AUTOSCALER_CANDIDATE_TAINT: "announced", names.AUTOSCALER_DELETING_TAINT: "going"}
Story = Sequence[tuple[int, str]]
Wish = tuple[float, str, int]
"""From that second on a ReplicaSet wants so many pods."""
TWO: Final = node("n1", pool="b"), node("n2", taints=(taint("odd", "PreferNoSchedule"),))
FULL: Final = pod("full", on="full", cpu=3.5, owner="ReplicaSet/full", node_selector={names.HOSTNAME_LABEL: "full"})


class Diary(Onlooker):
    """What each node was from which second on."""

    evictions = 0

    def __init__(self) -> None:
        self.of: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        self.world, seen = world, after or before
        if seen is not None and world.now > NOW:
            self.of[seen.name].append(((world.now - NOW) // timedelta(seconds=1), describe(after)))


def describe(node: Node | None) -> str:
    if node is None:
        return "gone"
    words = [WORDS.get(mark.key, mark.key) for mark in node.taints]
    return " ".join([*words, *["shut"] * node.unschedulable, *["boots"] * (not node.ready)])


def play(pods: Sequence[Pod], *wishes: Wish, nodes: Sequence[Node] = (node("n1"),), **changes: Any) -> Diary:
    """Half an hour of these nodes and pods beside a full node."""
    demand = [ReplicaChange(NOW + timedelta(seconds=at), f"default/ReplicaSet/{own}", many) for at, own, many in wishes]
    diary, picture = Diary(), cluster([*nodes, node("full")], [FULL, *pods], **changes)
    told = simulate(Days(picture, load(), tuple(demand), timedelta(minutes=30)), onlooker=diary)
    diary.evictions = told.evictions
    return diary


EMPTY: Final = [(10, "announced"), (620, "going shut"), (710, "gone")]


@cases(
    "expected, profile, pods",
    ("after ten minutes", EMPTY, "BALANCED", ()),
    ("after one minute", [(5, "announced"), (70, "going shut"), (160, "gone")], PACKING, ()),
    ("with pods of daemons", EMPTY, "BALANCED",
     [pod(f"d{rank}", on="n1", owner="DaemonSet/d", priority=rank) for rank in (0, -11)]),
)  # fmt: skip
def test_an_empty_node_goes_and_nobody_looks_for_room(expected: Story, profile: str, pods: Sequence[Pod]) -> None:
    diary = play(pods, profile=profile)
    world = diary.world

    assert diary.of == {"n1": expected}
    assert (diary.evictions, world.revision, [*world.pods]) == (0, 0, ["default/full"])
    assert world.agenda.next_at is None, "where nothing changes the loop rests"


@cases("expected, wishes", ("as many", 2, []), ("unless fewer are wanted by then", 1, [(700, "balloon", 0)]))
def test_expendable_pods_end_with_their_node_and_are_made_again(expected: int, wishes: list[Wish]) -> None:
    diary = play([pod("balloon", on="n1", owner="ReplicaSet/balloon", priority=-11)], *wishes)

    assert (diary.of, diary.evictions, len(diary.world.pods)) == ({"n1": EMPTY}, 0, expected)


@cases(
    "expected, graces, wishes, profile",
    ("of ten seconds, which end with a turn", [(720, "gone"), (740, "going shut")], (9, 0), [], "BALANCED"),
    ("to the second", [(720, "gone"), (730, "going shut")], (9, 0), [(725, "full", 2)], "BALANCED"),
    ("and not earlier", [(719, "gone"), (730, "going shut")], (0, 8), [(715, "full", 2)], "BALANCED"),
    ("though its pods end by themselves", [(711, "gone"), (730, "going shut")], (0,), [(620.5, "p", 0)], "BALANCED"),
    ("of five seconds", [(164, "gone"), (170, "going shut")], (3,), [], PACKING),
)
def test_nodes_with_pods_go_one_at_a_time_with_a_pause(
    expected: Story, graces: Sequence[int], wishes: list[Wish], profile: str
) -> None:
    """The first is gone a while after the last of its pods. It is looked at in between where a pod waits by then."""
    pods = [pod(f"p{n}", on="n2", owner="ReplicaSet/p", grace_seconds=grace) for n, grace in enumerate(graces)]
    diary = play([*pods, pod("q", on="n1", owner="ReplicaSet/q")], *wishes, nodes=TWO, profile=profile)

    assert [diary.of["n2"][-1], diary.of["n1"][1]] == expected


BIG: Final = pod("big", on="n2", cpu=3, owner="ReplicaSet/big", grace_seconds=0)


@cases(
    "expected, pods",
    ("just deleted", {}, []),
    ("being drained", {"n1": NOW + timedelta(seconds=620)}, [pod("p", on="n1", grace_seconds=3600)]),
)
def test_an_empty_node_waits_for_no_other_that_is(expected: dict[str, datetime], pods: Sequence[Pod]) -> None:
    diary = play([BIG, *pods], (95, "big", 0), (705, "full", 2), nodes=TWO)

    assert diary.of["n2"] == [(100, "odd announced"), (710, "odd going shut"), (800, "gone")]
    assert diary.world.deletion_begun == expected


def test_a_look_finds_twenty_nodes_more_than_the_one_before_and_the_next_turn_goes_on() -> None:
    diary = play([], nodes=[node(f"n{number}") for number in range(21)])

    assert sorted(story[0][0] for story in diary.of.values()) == [10] * 20 + [20]


@cases(
    "expected, other, ends, profile",
    ("for three minutes", [(620, "odd going shut"), (741, "odd"), (1050, "odd announced")], 930, 620.5, "BALANCED"),
    ("for five seconds", [(70, "odd going shut"), (191, "odd"), (215, "odd announced")], 200, 70.5, PACKING),
)
def test_a_node_whose_evictions_take_longer_than_two_minutes_is_opened_and_none_goes(
    expected: Story, other: int, ends: float, profile: str
) -> None:
    """The other pod of a budget ends once the node is on its way out, and is back after it was opened."""
    held: dict[str, Any] = {"labels": {"app": "held"}, "node_selector": {names.POOL_LABEL: "a"}}
    pods = [pod("p", on="n2", owner="ReplicaSet/p", **held), pod("q", on="full", owner="ReplicaSet/q", **held)]
    pods += [pod(f"free{n}", on=f"n{n}", owner=f"ReplicaSet/free{n}") for n in (1, 2)]
    budget = pdb("held", app="held", min_available=Limit(count=1))
    wishes: list[Wish] = [(ends, "q", 0), (ends + 134, "q", 1)]
    diary = play(pods, *wishes, nodes=TWO, profile=profile, disruption_budgets=(budget,))

    assert (diary.of["n2"][1:4], diary.of["n1"][1]) == (expected, (other, "going shut"))


MORE: Final = pod("more", on="full", owner="ReplicaSet/more")
FILLS: Final = pod("fills", on="full", cpu=0.4, owner="ReplicaSet/fills", grace_seconds=0)


@cases(
    "expected, wishes, profile",
    ("five minutes later", [320], [(65, "fills", 0)], "BALANCED"),
    ("when they are over, by a look for another reason", [310], [(305, "fills", 0)], "BALANCED"),
    ("twenty seconds later", [30], [(7, "fills", 0)], PACKING),
    ("when these are over", [25], [(22, "fills", 0)], PACKING),
    ("not while nothing has changed", [], [], "BALANCED"),
    ("not if it is too full by then", [], [(30, "web", 2), (65, "fills", 0)], "BALANCED"),
)
def test_a_node_that_could_not_go_is_looked_at_again(expected: list[int], wishes: list[Wish], profile: str) -> None:
    """Daemons leave 0.4 cores, of which the pod asks for half."""
    agent = pod("agent", on="n1", cpu=3.6, owner="DaemonSet/agent", node_selector={names.HOSTNAME_LABEL: "n1"})
    diary = play([FILLS, agent, pod("p", on="n1", cpu=0.2)], *wishes, profile=profile)

    assert [at for at, what in diary.of["n1"] if what == "announced"] == expected
    assert wishes or diary.world.agenda.next_at is None


@cases(
    "expected, delay, wishes",
    ("within a minute of the look before", [(80, "announced")], 10, [(25, "big", 0)]),
    ("within a tenth of the unneeded time", [(140, "announced")], 20, [(25, "big", 0)]),
    ("at once where a pod waits", [(30, "boots"), (120, "")], 10, [(25, "big", 2)]),
    ("at once where one has waited", [(30, "announced")], 10, [(25, "big", 2), (27, "big", 0)]),
    ("not when an end was due that has been put off", [(100, "announced"), (170, ""), (760, "announced")], 10,
     [(95, "big", 0), (165, "big", 1), (685, "more", 2), (695, "big", 0)]),
)  # fmt: skip
def test_what_is_new_is_looked_at(expected: Story, delay: int, wishes: list[Wish]) -> None:
    """The first look is after ten seconds, at a node too small for the large pod, too."""
    delays = {"a": timedelta(minutes=delay), "b": timedelta(minutes=20)}
    pools = {name: NodePool(name, consolidation_delay=delays[name]) for name in delays}
    nodes = [node("n1"), node("n2", cpu=1, pool="b")]
    diary = play([MORE, replace(BIG, node="n1")], *wishes, nodes=nodes, pools=pools)

    (story,) = (story for name, story in diary.of.items() if name != "n2")
    assert story[: len(expected)] == expected


@cases(
    "expected, wishes",
    ("at the turn after it, whatever is new before", 620, [(595, "more", 2), (600, "more", 3)]),
    ("at that very second where a pod waits", 610, [(605, "full", 2)]),
)
def test_a_node_goes_in_its_time(expected: int, wishes: list[Wish]) -> None:
    assert play([MORE], *wishes).of["n1"][1] == (expected, "going shut")
