"""When a simulated autoscaler removes nodes: after their time, and those with pods one at a time."""

from collections.abc import Iterator
from datetime import timedelta

from functions.cli.analysis.simulated_days.autoscaler import EVICTIONS_TAKE, LOOP, ScaleDown
from functions.cli.analysis.simulated_days.pod_lives import end
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.planning.autoscaler import soonest
from shared.core.policy import Limit
from tests.builders import NOW, cluster, node, pdb, pod
from tests.cli.analysis.simulated_days.time_passing import let_pass

SECOND = timedelta(seconds=1)
SMALL = [pod(f"p{n}", on=f"n{n}", owner=f"ReplicaSet/w{n}") for n in (1, 2)]
FULL = pod("full", on="n3", cpu=3, owner="ReplicaSet/full")


class Autoscaler:
    """Looks at three nodes, the last of which is full, whenever it is told to."""

    def __init__(self, *pods: Pod) -> None:
        budgets = (pdb("web", app="web", min_available=Limit(count=1)),)
        seen = cluster([node("n1"), node("n2"), node("n3")], [*pods, FULL], disruption_budgets=budgets)
        self.world = World(seen, load(), DELAYS, NOW)
        self.ripe = soonest(seen, seen.nodes)
        self._scale_down = ScaleDown(self.world, LOOP)
        self._scale_down.step()

    def leaving_after(self, time: timedelta) -> list[str]:
        """Let that much time pass from the beginning and look; return the nodes that are being removed."""
        let_pass(self.world, NOW + time)
        self.world.now = NOW + time
        self._scale_down.step()
        return list(self._leaving())

    def _leaving(self) -> Iterator[str]:
        nodes = self.world.nodes.values()
        return (each.name for each in nodes if each.has_taint(names.AUTOSCALER_DELETING_TAINT))


def test_a_node_stays_until_it_has_been_unneeded_for_the_profiles_time() -> None:
    alone = Autoscaler(SMALL[0])

    assert alone.leaving_after(alone.ripe - SECOND) == []
    assert "n2" in alone.leaving_after(alone.ripe)


def test_nodes_with_pods_go_one_at_a_time() -> None:
    pair = Autoscaler(*SMALL)

    assert len(pair.leaving_after(pair.ripe)) == 1


def test_evictions_that_a_budget_refuses_are_asked_for_again_until_their_time_is_over() -> None:
    """The other pod of the budget ends once the node is being emptied, so that its own may not go."""
    held = Autoscaler(pod("p", on="n1"), pod("q", on="n3"))
    assert "n1" in held.leaving_after(held.ripe)
    end(held.world, held.world.pods["default/q"])

    assert "n1" in held.leaving_after(held.ripe + EVICTIONS_TAKE)
    assert "n1" not in held.leaving_after(held.ripe + EVICTIONS_TAKE + LOOP.retry)
