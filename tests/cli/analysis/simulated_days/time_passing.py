"""Lets time pass in a simulated cluster of which a test looks at one part alone."""

from collections.abc import Callable
from datetime import datetime

from functions.cli.analysis.simulated_days.world import World


def let_pass(world: World, until: datetime, after_each: Callable[[], None] = lambda: None) -> None:
    """Let happen what is due up to that time; `after_each` moment a test may act as the parts that are not there."""
    while (at := world.agenda.next_at) is not None and at <= until:
        world.now = at
        for action in world.agenda.due(at):
            action()
        after_each()
