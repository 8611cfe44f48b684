"""Several faults at once, messages lost and late, clocks that are off, people who interfere: drawn from seeds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from tests.faults.call_faults import CallEnd, CallFault, ClockSkew, MessageFaults
from tests.faults.catalog import begun_in, calls
from tests.faults.history import Act, History
from tests.faults.people import drawn as drawn_acts
from tests.faults.worlds import Setting, settings
from tests.faults.worlds import drawn as drawn_world

WAITS = (0.0, 0.0, 3.0, 12.0, 35.0, 70.0, 200.0)
"""Seconds that a call is late: shorter and longer than a look, a lease, an acknowledgement, a drain."""
MIXTURES = {"mixture": False, "people": True}
"""Whether people interfere."""
_IN_ONE_WORLD, _DRAWN = 10, 997
"""So many mixtures in a row share a drawn world, and so many worlds are drawn."""
_WRITES = ("put", "create", "patch", "publish")
Owner = Callable[[Random, Setting], tuple[float, Act]]


@dataclass(frozen=True)
class Worlds:
    """Where histories begin: what is written by hand, how more worlds are drawn, and what else people do there."""

    name: str
    by_hand: Callable[[], tuple[History, ...]]
    drawn: Callable[[int], Setting] | None = None
    owner: Owner | None = None

    def chosen(self, random: Random, seed: int) -> History:
        if self.drawn is None or random.random() < 0.4:
            return random.choice(self.by_hand())
        return History(self.drawn(seed // _IN_ONE_WORLD % _DRAWN))


PLAIN = Worlds("plain", lambda: begun_in(settings()), drawn_world)


def mixture(seed: int, *, people: bool, worlds: Worlds = PLAIN) -> History:
    """Return a history of faults, message faults and skewed clocks, and perhaps interfering people, from a seed."""
    random = Random(seed)  # noqa: S311 - faults, not secrets
    base = worlds.chosen(random, seed)
    made = calls(base)
    writes = [call for call in made if call.what.startswith(_WRITES)]
    chosen = [random.choice(random.choice((made, writes or made))) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    return replace(
        base,
        seed=random.randrange(2),
        faults={call.number: _fault(random) for call in chosen},
        message_faults=_message_faults(random),
        clock_skew=random.choice((ClockSkew(), ClockSkew(offset=1000.0), ClockSkew(offset=1000.0, rate=0.05))),
        acts=(*base.acts, *(_acts(random, worlds, base.setting) if people else ())),
        name=f"{worlds.name} {'people' if people else 'mixture'}:{seed}",
    )


def _acts(random: Random, worlds: Worlds, setting: Setting) -> tuple[tuple[float, Act], ...]:
    acts: tuple[tuple[float, Act], ...] = drawn_acts(random, 3, 240.0)
    return acts if worlds.owner is None else (*acts, worlds.owner(random, setting))


def _fault(random: Random) -> CallFault:
    end = random.choice(list(CallEnd))
    effect = end is CallEnd.GO or random.random() < 0.5
    return CallFault(end, effect, random.choice(WAITS), random.choice(WAITS) if effect else 0.0)


def _message_faults(random: Random) -> MessageFaults:
    numbers = range(1, 7)
    return MessageFaults(
        lost=frozenset(number for number in numbers if random.random() < 0.08),
        doubled=frozenset(number for number in numbers if random.random() < 0.15),
        late={number: random.choice((5.0, 40.0, 100.0, 300.0)) for number in numbers if random.random() < 0.2},
    )
