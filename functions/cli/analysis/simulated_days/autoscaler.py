"""The autoscaler of a simulated cluster: a look at every turn of its loop at which anything may have changed.

Must not decide who goes or what is bought: `scale_down` and `scale_up` do.
"""

from datetime import datetime
from typing import Final

from functions.cli.analysis.forecast.autoscaler import profile_of, soonest
from functions.cli.analysis.simulated_days.controllers import NodeTemplates
from functions.cli.analysis.simulated_days.scale_down import ScaleDown
from functions.cli.analysis.simulated_days.scale_up import ScaleUp
from functions.cli.analysis.simulated_days.settings import loop_of
from functions.cli.analysis.simulated_days.world import World

CALM: Final = 10
"""Between two looks while no pod waits there is a tenth of the unneeded time: so much later it is begun at most."""


class ScalingLoop:
    """Buys first, then removes."""

    def __init__(self, world: World, templates: NodeTemplates) -> None:
        self._world, self._begun = world, world.now
        self._loop = loop_of(profile_of(world.picture))
        self._up, self._down = ScaleUp(world, templates), ScaleDown(world, self._loop)
        self._calm = soonest(world.picture, world.picture.nodes) / CALM
        self._seen, self._last = -1, world.now - self._calm
        self._next: datetime | None = None

    def watch(self) -> None:
        """Note the next look, if there is anything new to see."""
        now = self._world.now
        due = self._news_at() if self._seen != self._world.revision else self._down.due_at()
        if due is None:
            return
        turn = self._turn_at(max(due, now))
        if self._next is None or turn < self._next:
            self._next = turn
            self._world.agenda.note(turn, lambda: self._look(turn))

    def _news_at(self) -> datetime:
        """Return when what is new is looked at: at once for pods that wait, else with what else is new by then."""
        now = self._world.now
        calm = now if self._world.pending else max(now, self._last + self._calm)
        return min(calm, self._down.due_at() or calm)

    def _turn_at(self, due: datetime) -> datetime:
        """Return the first turn of the loop after that time."""
        return self._begun + ((due - self._begun) // self._loop.scan + 1) * self._loop.scan

    def _look(self, turn: datetime) -> None:
        if self._next != turn:
            return
        self._next, self._seen, self._last = None, self._world.revision, turn
        self._up.step()
        self._down.step()
