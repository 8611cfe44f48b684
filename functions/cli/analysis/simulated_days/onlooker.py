"""What an onlooker may write down of a simulated cluster: every change of a node, a pod or Ebb's document.

The default writes nothing; tests write what the oracle of the fault suites reads. Must not change the world.
"""

from typing import TYPE_CHECKING, Final, Protocol

from functions.cli.analysis.simulated_days.measures import Actor
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.records.state import ClusterState

if TYPE_CHECKING:
    from functions.cli.analysis.simulated_days.world import World


class Onlooker(Protocol):
    """Is told of each change with what stood before and after; None where there was or is nothing."""

    def node(self, world: "World", before: Node | None, after: Node | None) -> None: ...

    def pod(self, world: "World", before: Pod | None, after: Pod | None) -> None: ...

    def evicted(self, world: "World", pod: Pod, by: Actor) -> None:
        """An eviction is granted, and nothing has changed yet."""

    def remembered(self, world: "World", before: ClusterState, after: ClusterState) -> None: ...


class _Nobody:
    """Looks away."""

    def node(self, world: "World", before: Node | None, after: Node | None) -> None: ...

    def pod(self, world: "World", before: Pod | None, after: Pod | None) -> None: ...

    def evicted(self, world: "World", pod: Pod, by: Actor) -> None: ...

    def remembered(self, world: "World", before: ClusterState, after: ClusterState) -> None: ...


NO_ONLOOKER: Final = _Nobody()
