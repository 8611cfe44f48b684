"""What happens to one history in turn: each kill, failure and pause of a call, and each action of GKE."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from tests.faults import history
from tests.faults.call_faults import KILL_AFTER, KILL_BEFORE, CallEnd, CallFault, MessageFaults, OutsideCall
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.outages import Outage, kind_of
from tests.faults.people import Act, in_full
from tests.faults.provider import BEGINNINGS
from tests.faults.worlds import Setting

EACH_CALL = {
    "kill": (KILL_BEFORE, KILL_AFTER),
    "failure": (CallFault(CallEnd.FAIL, effect=False), CallFault(CallEnd.FAIL, after=30.0)),
    "pause": (CallFault(before=100.0), CallFault(after=100.0)),
}
"""What is done to every call in turn: a kill before it and after its effect; a failure without effect and half a
minute after its effect; a pause past the lease before it and after its effect, after which it goes on."""
PROVIDER_ACTION = "provider"
MOMENTS = (1.0, 4.0, 6.0, 8.0, 12.0, 30.0, 70.0)
"""Seconds: before the first claim, between claim, cordon and evictions, while pods end, when the node is empty."""
NODES = (0, 1, 3)
LATE = MessageFaults(late={2: 45.0})
"""The first order to drain, which follows that to hold, comes so late that the room may have gone long ago."""
OUTAGE = "outage"
LONG_UPGRADE = "upgrade"
OUTAGES_BEGIN = (0.0, 7.0, 40.0)
LONG_STALL = 500.0
"""Seconds: longer than the planner's lease."""
SLOW = 10.0
UPGRADED_NODES, BETWEEN_NODES, EMPTIED_IN = 6, 1800.0, 600.0
"""Of three hours each node takes ten minutes: most of the time the upgrade is elsewhere, or pauses."""
WHILE = 25.0
"""How long an action of two halves lasts."""

_calls: dict[str, tuple[OutsideCall, ...]] = {}


def begun_in(settings: Iterable[Setting]) -> tuple[History, ...]:
    return tuple(History(setting, name=setting.name) for setting in settings)


def calls(base: History) -> tuple[OutsideCall, ...]:
    """Return the outside calls of a history; each history is run once in a process."""
    key = str(base)
    if key not in _calls:
        _calls[key] = tuple(run(base).call_gate.calls)
    return _calls[key]


def calls_of(base: History, actor: str, what: str) -> list[OutsideCall]:
    return [call for call in calls(base) if call.actor.startswith(actor) and call.what.startswith(what)]


def kinds_of_calls(base: History) -> list[str]:
    return sorted({kind_of(call.what) for call in calls(base) if call.what != "sleep"})


def since_begun(base: History, call: OutsideCall) -> float:
    return call.at - calls(base)[0].at


def each_call(kind: str, base: History) -> Iterator[History]:
    for call in calls(base):
        for half, fault in enumerate(EACH_CALL[kind]):
            yield replace(base, faults={call.number: fault}, name=f"{kind}:{base.name}:{2 * call.number + half}")


@dataclass(frozen=True)
class Begin:
    """The outage begins; with `index` it strikes only calls about that node, counted in the order of names."""

    outage: Outage
    index: int | None = None

    def __call__(self, ebb: Installation) -> None:
        nodes = [node["metadata"]["name"] for node in ebb.cloud.world.store.all("nodes")]
        node = "" if self.index is None or not nodes else nodes[self.index % len(nodes)]
        ebb.begin(replace(self.outage, node=node))

    def __str__(self) -> str:
        return str(self.outage) if self.index is None else f"{self.outage} (node {self.index})"


def outages(base: History) -> Iterator[History]:
    """Let each kind of call fail for hours, or take ten seconds each time, from several moments on."""
    rows = product(kinds_of_calls(base), (Outage(""), Outage("", slow=SLOW, fails=False)), OUTAGES_BEGIN)
    for number, (what, outage, at) in enumerate(rows):
        begun = (at, Begin(replace(outage, what=what)))
        yield replace(base, acts=(*base.acts, begun), name=f"{OUTAGE}:{base.name}:{number}")


def long_upgrades(base: History) -> Iterator[History]:
    """Upgrade the pool for three hours, node by node, from several moments and in several orders."""
    for number, (at, first) in enumerate(product(MOMENTS, NODES)):
        acts = [row for turn in range(UPGRADED_NODES) for row in _upgraded(at + turn * BETWEEN_NODES, first + turn)]
        end = (at + UPGRADED_NODES * BETWEEN_NODES, Act("end the upgrade", 0))
        yield replace(base, acts=(*base.acts, *acts, end), name=f"{LONG_UPGRADE}:{base.name}:{number}")


def _upgraded(at: float, index: int) -> tuple[tuple[float, history.Act], ...]:
    return (at, Act("take", index)), (at + EMPTIED_IN, Act("replace", index))


def provider_actions(base: History) -> Iterator[History]:
    """Give every action of GKE, and a rival's growth, at several moments of the history and upon several nodes."""
    rows = (
        *product((*BEGINNINGS, "rival"), MOMENTS, NODES, (MessageFaults(),)),
        *product(("announce", "rival"), MOMENTS, NODES, (LATE,)),
    )
    for number, (action, at, index, message_faults) in enumerate(rows):
        acts: tuple[tuple[float, history.Act], ...] = (*base.acts, *in_full(Act(action, index), at, WHILE))
        yield replace(base, acts=acts, message_faults=message_faults, name=f"{PROVIDER_ACTION}:{base.name}:{number}")
