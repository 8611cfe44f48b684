"""What is away from a pool, and by whom; what Ebb remembers of demand."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.core.planning.candidates import with_demand
from shared.core.records.ledger import PoolCount, PoolFigures, begin_count
from shared.core.records.state import ClusterState, KnownDemand, Removed
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy
from tests.depth import cases, examples

HOUR = timedelta(hours=1)
PRICE = 100


def seen(nodes: int, removed: int = 0, *, saved: int = 0) -> PoolFigures:
    """Nodes are older than NOW."""
    own, young = Removed(removed, 90 * removed), Removed(saved, 90 * saved)
    return PoolFigures((NOW - HOUR,) * nodes, PRICE * nodes, own, young)


def after(*passes: PoolFigures) -> PoolCount:
    count = begin_count(passes[0])
    for figures in passes[1:]:
        count = count.after(figures)
    return count


@cases(
    "own, by_others, passes",
    ("drains removed two", 2, 0, [seen(5), seen(3, 2)]),
    ("and they stay away", 2, 0, [seen(5), seen(3, 2), *[seen(3, 2)] * 99]),
    ("others removed two", 0, 2, [seen(5), seen(3)]),
    ("one by each", 1, 1, [seen(5), seen(3, 1)]),
    ("both came back", 0, 0, [seen(5), seen(3, 2), seen(5, 2)]),
    ("one came back", 1, 0, [seen(5), seen(3, 2), seen(4, 2)]),
    ("an upgrade replaces a node", 2, 0, [seen(5), seen(3, 2), seen(2, 2), seen(3, 2)]),
    ("the pool is empty", 5, 0, [seen(5), seen(0, 5), seen(0, 5)]),
    ("an upgrade adds each node first", 1, 1, [seen(5), seen(3, 2), *[seen(4, 2), seen(3, 2)] * 3]),
    ("a rise and a fall", 0, 0, [seen(5), seen(8), seen(5)]),
    ("a night below an old peak", 0, 0, [seen(20), seen(80), seen(20), seen(15, 5), seen(20, 5)]),
    ("drains removed all that a peak had added", 0, 0, [seen(5), seen(9), seen(5, 4)]),
    ("back by day", 0, 4, [seen(9), seen(5), seen(3, 2), seen(5, 2), seen(3, 4), seen(5, 4)]),
    ("a night after four went", 2, 4, [seen(9), seen(5), seen(3, 2), seen(5, 2), seen(3, 4)]),
    ("what counts as saved as the policy begins", 1, 0, [seen(4, 7, saved=1), seen(4, 7)]),
    ("the state was lost", 0, 0, [seen(4, 7), seen(4, 0)]),
)
def test_what_is_away_by_whom(own: int, by_others: int, passes: list[PoolFigures]) -> None:
    found = after(*passes)
    assert (found.by_drains, found.by_others) == (90 * own, PRICE * by_others)


@cases(
    "gone, now",
    ("a new node that a drain removed before a pass saw it", 1, seen(5, 1)),
    ("one that passes knew", 1, seen(4, 1)),
    ("none", 0, seen(7)),
)
def test_a_node_that_a_drain_removed_has_gone_whether_a_pass_saw_it_or_not(gone: int, now: PoolFigures) -> None:
    assert after(seen(5)).gone(now, NOW) == gone


_PASSES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=30)


@given(_PASSES)
@examples(200)
def test_of_what_is_away_the_node_that_went_last_comes_back_first(passes: list[tuple[int, int, int]]) -> None:
    nodes, removed, gone, away = 500, 0, 0, list[bool]()
    count = begin_count(seen(nodes))
    for index, (by_drains, by_others, added) in enumerate(passes):
        made = NOW + (index + 1) * HOUR
        nodes, removed = nodes - by_drains - by_others, removed + by_drains
        now = PoolFigures((NOW,) * nodes + (made,) * added, 0, Removed(removed, 90 * removed))
        nodes, away = nodes + added, [*away, *[True] * by_drains, *[False] * by_others]
        del away[max(0, len(away) - added) :]
        gone += count.gone(now, made - HOUR)
        count = count.after(now)
        assert count.own.nodes == sum(away)
        assert count.own.cost_per_hour == 90 * count.own.nodes
    assert gone == sum(by_drains + by_others for by_drains, by_others, _ in passes)


@cases(
    "expected, later",
    ("it has risen", 0, [(1, 900)]),
    ("within the half day", 300, [(1, 500)]),
    ("in the half day after", 300, [(1, 500), (13, 500)]),
    ("the peak is forgotten a day later", 0, [(1, 500), (13, 500), (26, 500)]),
    ("nobody has looked for a day", 0, [(30, 500)]),
    ("since a higher peak", 100, [(1, 600), (2, 900), (3, 800)]),
)
def test_demand_has_fallen_since_its_peak(expected: int, later: list[tuple[int, int]]) -> None:
    demand = KnownDemand(800, NOW, 800)
    for hours, cpu in later:
        demand = demand.followed_by(cpu, NOW + hours * HOUR)
    assert demand.fallen == expected


@cases(
    "expected, changes",
    ("a pod that runs", 1500, {}),
    ("one that waits for a node", 1500, {"on": ""}),
    ("what goes with its node is none", 500, {"owner": "DaemonSet/d"}),
    ("nor is what is ending: its replacement counts", 500, {"deleting": NOW}),
)
def test_demand_is_what_pods_ask_for(expected: int, changes: dict[str, Any]) -> None:
    pods = [pod("a", on="n1", cpu=0.5), pod("b", **{"on": "n1", "cpu": 1, **changes})]
    found = with_demand(Situation(cluster([node("n1")], pods), ClusterState(), policy()))
    assert found.state.demand == KnownDemand(expected, found.now, expected)
