"""What fails for hours and only in part, in worlds of waves, commitments, budgets that end early, and marks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final

from tests.faults.call_faults import CallFault, MessageFaults
from tests.faults.catalog import LONG_STALL, NODES, OUTAGES_BEGIN, Begin, begun_in, calls, kinds_of_calls
from tests.faults.history import Act, History
from tests.faults.installation import Installation
from tests.faults.outages import ABOUT_A_NODE, Ending, Outage
from tests.faults.people import Act as PersonsAct
from tests.faults.provider import Deed, scaled
from tests.faults.worlds import Limits, setting, workload

PARTLY: Final = "partly"
EXPIRED: Final = 700.0
"""Seconds: a message that comes so late has expired."""
SLOW: Final = 15.0
WAVE_ENDS: Final = ("pause", "pause flag", "dry run", "break policy", "lose the wave")
"""What ends a wave while the drainer writes its soft taints."""
ENDS_AT: Final = (3.0, 20.0, 100.0)
MESSAGES: Final = range(1, 7)
_WRITES: Final = ("put", "delete", "patch")
_MARKED: Final = Limits(pool=1, ceiling=1, minimum_nodes=1, pool_minimum=0, consolidate_after=300.0)


@cache
def partly_histories() -> tuple[History, ...]:
    """The worlds of its own; in the last one all nodes could go, are full for some minutes, and could go again."""
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3, 4], cpu=300)
    waved = Limits(pool=1, ceiling=1, minimum_nodes=2, waves=True, commitments=True)
    alone = replace(waved, minimum_nodes=1, pool_minimum=0)
    worlds = (
        setting("partly waved", [web, api], limits=waved),
        setting("partly waved, and nobody deletes", [web, api], limits=alone, enabled=False),
        setting("partly surging", [web, workload("one", [0], cpu=300), workload("two", [1], cpu=300)],
                limits=replace(alone, single_replicas="surge"), threshold=0.0),
        setting("partly replaced", [web, api], limits=replace(waved, awaiting=2), unneededTime=80),
    )  # fmt: skip
    rises = ((80.0, scaled("web", 15)), (470.0, scaled("web", 5)), (900.0, scaled("web", 5)))
    marked = setting("partly marked", [web], limits=_MARKED, enabled=False)
    return (*begun_in(worlds), History(marked, acts=rises, name=marked.name))


def partly(base: History) -> Iterator[History]:
    made = (*_ways_to_fail(base), *_single_nodes(base), *_ends_of_waves(base), *_stalls(base), *_expired(base))
    for number, history in enumerate(made):
        yield replace(history, name=f"{PARTLY}:{base.name}:{number}")


def _acting(base: History, *acts: tuple[float, Act]) -> History:
    return replace(base, acts=(*base.acts, *acts))


def _ways_to_fail(base: History) -> Iterable[History]:
    """Let each kind of call be refused or meet a fault of Ebb, and each write find that somebody else was first."""
    endings = (Ending.REFUSAL, Ending.FAULT, Ending.CONFLICT)
    for what, ending, at in product(kinds_of_calls(base), endings, OUTAGES_BEGIN):
        if ending is not Ending.CONFLICT or what.startswith(_WRITES):
            yield _acting(base, (at, Begin(Outage(what, ending=ending))))


def _single_nodes(base: History) -> Iterable[History]:
    for what, index, ending, at in product(sorted(ABOUT_A_NODE), NODES, Ending, OUTAGES_BEGIN):
        yield _acting(base, (at, Begin(Outage(what, ending=ending), index)))


def _ends_of_waves(base: History) -> Iterable[History]:
    if base.setting.limits.waves:
        slow = (0.0, Begin(Outage("patch nodes", slow=SLOW, fails=False)))
        lose = Deed("the wave's document is lost", Installation.lose_wave)
        for end, at in product(WAVE_ENDS, ENDS_AT):
            yield _acting(base, slow, (at, lose if end == "lose the wave" else PersonsAct(end)))


def _stalls(base: History) -> Iterable[History]:
    for call in calls(base):
        if call.actor.startswith("tick"):
            for fault in (CallFault(before=LONG_STALL), CallFault(after=LONG_STALL)):
                yield replace(base, faults={call.number: fault})


def _expired(base: History) -> Iterable[History]:
    return (replace(base, message_faults=MessageFaults(late={number: EXPIRED})) for number in MESSAGES)
