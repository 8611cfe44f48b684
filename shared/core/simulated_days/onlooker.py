"""What an onlooker may write down of a simulated cluster: every eviction with what stood at that moment.

The default writes nothing; tests write what the oracle of the fault suites reads. Must not change the world.
"""

from typing import TYPE_CHECKING, Final, Protocol

from shared.core.cluster.pod import Pod
from shared.core.simulated_days.measures import Actor

if TYPE_CHECKING:
    from shared.core.simulated_days.world import World


class Onlooker(Protocol):
    """Is told of what happens, before it has happened."""

    def evicted(self, world: "World", pod: Pod, by: Actor) -> None: ...

    def stepped(self, world: "World") -> None: ...


class _Nobody:
    def evicted(self, world: "World", pod: Pod, by: Actor) -> None:
        """Forget it."""

    def stepped(self, world: "World") -> None:
        """Forget it."""


NO_ONLOOKER: Final = _Nobody()
