"""Which histories there are: each kill, failure and pause of a history without faults, and mixtures drawn by seed."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from tests.faults.door import KILL_AFTER, KILL_BEFORE, Call, End, Fault
from tests.faults.history import History, run
from tests.faults.people import drawn as drawn_acts
from tests.faults.weather import Post, Skew
from tests.faults.worlds import Setting, settings
from tests.faults.worlds import drawn as drawn_world

WAITS = (0.0, 0.0, 3.0, 12.0, 35.0, 70.0, 200.0)
"""Seconds that a call is late: shorter and longer than a look, a lease, an acknowledgement, a drain."""
_DEEDS = ("put", "create", "patch", "publish")


_calls: dict[tuple[str, int], tuple[Call, ...]] = {}


def calls(base: History) -> tuple[Call, ...]:
    """Return the outside calls of a world's history without faults; each is run once in a process."""
    key = (base.setting.name, base.seed)
    if key not in _calls:
        _calls[key] = tuple(run(base).door.calls)
    return _calls[key]


def kills(setting: Setting, seed: int) -> Iterator[History]:
    """Give every kill of the world's history: before each call, and after its effect."""
    base = History(setting, seed)
    for call in calls(base):
        yield replace(base, faults={call.number: KILL_BEFORE})
        yield replace(base, faults={call.number: KILL_AFTER})


def failures(setting: Setting, seed: int) -> Iterator[History]:
    """Give every failure of a call: without effect, and after its effect took place."""
    base = History(setting, seed)
    for call in calls(base):
        yield replace(base, faults={call.number: Fault(End.FAIL, effect=False)})
        yield replace(base, faults={call.number: Fault(End.FAIL, after=30.0)})


def zombies(setting: Setting, seed: int) -> Iterator[History]:
    """Give every pause past the lease: before a call, and after its effect; the call then goes on."""
    base = History(setting, seed)
    for call in calls(base):
        yield replace(base, faults={call.number: Fault(before=100.0)})
        yield replace(base, faults={call.number: Fault(after=100.0)})


def mixture(seed: int, *, people: bool) -> History:
    """Return a history of faults, message faults and skewed clocks, and perhaps interfering people, from a seed."""
    random = Random(seed)  # noqa: S311 - faults, not secrets
    setting = random.choice(settings()) if random.random() < 0.4 else drawn_world(random.randrange(80))
    base = History(setting, random.randrange(2))
    made = calls(base)
    deeds = [call for call in made if call.what.startswith(_DEEDS)]
    chosen = [random.choice(random.choice((made, deeds or made))) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    return replace(
        base,
        faults={call.number: _fault(random) for call in chosen},
        post=_post(random),
        skew=random.choice((Skew(), Skew(offset=1000.0), Skew(offset=1000.0, rate=0.05))),
        acts=drawn_acts(random, 3, 240.0) if people else (),
    )


def _fault(random: Random) -> Fault:
    end = random.choice(list(End))
    effect = end is End.GO or random.random() < 0.5
    return Fault(end, effect, random.choice(WAITS), random.choice(WAITS) if effect else 0.0)


def _post(random: Random) -> Post:
    numbers = range(1, 7)
    return Post(
        lost=frozenset(number for number in numbers if random.random() < 0.08),
        doubled=frozenset(number for number in numbers if random.random() < 0.15),
        late={number: random.choice((5.0, 40.0, 100.0, 300.0)) for number in numbers if random.random() < 0.2},
    )
