"""Which histories there are: each kill, failure and pause of a history without faults, and mixtures drawn by seed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from random import Random

from tests.faults.call_faults import KILL_AFTER, KILL_BEFORE, CallEnd, CallFault, OutsideCall
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.network_faults import ClockSkew, MessageFaults
from tests.faults.people import Act, in_full
from tests.faults.people import drawn as drawn_acts
from tests.faults.provider import BEGINNINGS
from tests.faults.returning_worlds import returning_settings
from tests.faults.rich_worlds import drawn_rich, rich_settings
from tests.faults.surging_worlds import SURGED, ChangeTemplate, UndoRestart, surging_settings
from tests.faults.worlds import Setting, settings, with_buffers
from tests.faults.worlds import drawn as drawn_world

WAITS = (0.0, 0.0, 3.0, 12.0, 35.0, 70.0, 200.0)
"""Seconds that a call is late: shorter and longer than a look, a lease, an acknowledgement, a drain."""
FAMILIES = {
    "kill": (KILL_BEFORE, KILL_AFTER),
    "failure": (CallFault(CallEnd.FAIL, effect=False), CallFault(CallEnd.FAIL, after=30.0)),
    "pause": (CallFault(before=100.0), CallFault(after=100.0)),
}
"""What is done to every call in turn: a kill before it and after its effect; a failure without effect and half a
minute after its effect; a pause past the lease before it and after its effect, after which it goes on."""
MIXTURES = {"mixture": False, "people": True}
"""Whether people interfere."""
RICH = {f"rich {name}": people for name, people in MIXTURES.items()}
"""The same in worlds whose pods are bound by hard rules."""
SURGING = {f"surging {name}": people for name, people in MIXTURES.items()}
"""The same in worlds whose single replicas leave without a gap, and whose owners roll new versions out."""
PROVIDER_ACTION = "provider"
MOMENTS = (1.0, 4.0, 6.0, 8.0, 12.0, 30.0, 70.0)
"""Seconds: before the first claim, between claim, cordon and evictions, while pods end, when the node is empty."""
NODES = (0, 1, 3)
LATE = MessageFaults(late={1: 45.0})
"""The first order comes so late that the room may have gone long ago."""
WHILE = 25.0
"""How long an action of two halves lasts."""
_WRITES = ("put", "create", "patch", "publish")


_calls: dict[tuple[str, int], tuple[OutsideCall, ...]] = {}


def calls(base: History) -> tuple[OutsideCall, ...]:
    """Return the outside calls of a world's history without faults; each is run once in a process."""
    key = (base.setting.name, base.seed)
    if key not in _calls:
        _calls[key] = tuple(run(base).call_gate.calls)
    return _calls[key]


def each_call(family: str, setting: Setting) -> Iterator[History]:
    """Give for every call of the world's history without faults both faults of the family."""
    base = History(setting)
    for call in calls(base):
        for half, fault in enumerate(FAMILIES[family]):
            yield replace(base, faults={call.number: fault}, name=f"{family}:{setting.name}:{2 * call.number + half}")


def provider_actions(setting: Setting) -> Iterator[History]:
    """Give every action of GKE, and a rival's growth, at several moments of the history and upon several nodes."""
    rows = (
        *product((*BEGINNINGS, "rival"), MOMENTS, NODES, (MessageFaults(),)),
        *product(("announce", "rival"), MOMENTS, NODES, (LATE,)),
    )
    for number, (action, at, index, message_faults) in enumerate(rows):
        acts = in_full(Act(action, index), at, WHILE)
        yield History(
            setting, acts=acts, message_faults=message_faults, name=f"{PROVIDER_ACTION}:{setting.name}:{number}"
        )


def history_named(name: str) -> History:
    """Return the history of that name: `MIXTURE:SEED`, `provider:WORLD:NUMBER` or `FAMILY:WORLD:NUMBER`.

    Raises:
        KeyError: there is no such family or world.
        ValueError: the number is none.
    """
    family, _, rest = name.partition(":")
    if family in MIXTURES:
        return mixture(int(rest), people=MIXTURES[family])
    if family in RICH:
        return mixture(int(rest), people=RICH[family], rich=True)
    if family in SURGING:
        return mixture(int(rest), people=SURGING[family], surging=True)
    world, _, number = rest.rpartition(":")
    worlds = (*settings(), *rich_settings(), *returning_settings(), *with_buffers(), *surging_settings())
    setting = {each.name: each for each in worlds}[world]
    return next(
        islice(
            provider_actions(setting) if family == PROVIDER_ACTION else each_call(family, setting), int(number), None
        )
    )


def mixture(seed: int, *, people: bool, rich: bool = False, surging: bool = False) -> History:
    """Return a history of faults, message faults and skewed clocks, and perhaps interfering people, from a seed."""
    random = Random(seed)  # noqa: S311 - faults, not secrets
    by_hand, drawn_one = (rich_settings, drawn_rich) if rich else (settings, drawn_world)
    setting = random.choice(by_hand()) if random.random() < 0.4 else drawn_one(random.randrange(80))
    if surging:
        setting = random.choice(surging_settings())
    base = History(setting, random.randrange(2))
    made = calls(base)
    writes = [call for call in made if call.what.startswith(_WRITES)]
    chosen = [random.choice(random.choice((made, writes or made))) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    return replace(
        base,
        faults={call.number: _fault(random) for call in chosen},
        message_faults=_message_faults(random),
        clock_skew=random.choice((ClockSkew(), ClockSkew(offset=1000.0), ClockSkew(offset=1000.0, rate=0.05))),
        acts=_acts(random, setting if surging else None) if people else (),
        name=f"{'rich ' if rich else 'surging ' if surging else ''}{'people' if people else 'mixture'}:{seed}",
    )


def _acts(random: Random, surging: Setting | None) -> tuple[tuple[float, Callable[[Installation], None]], ...]:
    acts: tuple[tuple[float, Callable[[Installation], None]], ...] = drawn_acts(random, 3, 240.0)
    if surging is not None:
        act = random.choice((ChangeTemplate, ChangeTemplate, UndoRestart))
        owner = act(random.choice([each for each in SURGED if each in surging.apps]))
        acts = (*acts, (float(random.choice((random.randrange(40), random.randrange(240)))), owner))
    return tuple(sorted(acts, key=lambda row: row[0]))


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
