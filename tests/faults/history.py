"""One history, a value that can be run again: a world, a seed and what goes wrong; run to its rest, then judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from infra.local.world.kinds import Json
from tests.faults.call_faults import CallFault, ClockSkew, MessageFaults
from tests.faults.installation import Installation
from tests.faults.oracle import REDELIVERY, breaches, longest_cordon
from tests.faults.ports import AGENT
from tests.faults.replay import TAINT
from tests.faults.waved_worlds import left_held
from tests.faults.worlds import Setting

Act = Callable[[Installation], None]


@dataclass(frozen=True)
class History:
    """What is to happen. `acts` come at seconds after the beginning; `name` is what `history_named` finds it by."""

    setting: Setting
    seed: int = 0
    faults: Mapping[int, CallFault] = field(default_factory=dict)
    message_faults: MessageFaults = field(default_factory=MessageFaults)
    clock_skew: ClockSkew = field(default_factory=ClockSkew)
    acts: tuple[tuple[float, Act], ...] = ()
    name: str = ""

    def __str__(self) -> str:
        faults = ", ".join(f"call {number}: {fault}" for number, fault in sorted(self.faults.items()))
        acts = ", ".join(f"{at:g} s: {act}" for at, act in self.acts)
        world = f"world {self.setting.name!r}, seed {self.seed}"
        return f"{world}, faults [{faults}], {self.message_faults}, {self.clock_skew}, acts [{acts}]"


def run(history: History) -> Installation:
    """Let the history happen, then the world run quietly until nothing is left to do or all bounds have passed."""
    ebb = Installation(history.setting, history.seed, history.faults, history.message_faults, history.clock_skew)
    for at, act in sorted(history.acts, key=lambda row: row[0]):
        ebb.live(max(0.0, at - ebb.passed))
        act(ebb)
    ebb.live(history.setting.limits.interval)
    while not _is_over(ebb):
        ebb.live(10.0)
    ebb.threads.dismiss()
    return ebb


def breaches_of(history: History) -> list[str]:
    return breaches(run(history))


def _is_over(ebb: Installation) -> bool:
    quiet = ebb.clock.now() - max((*ebb.disturbances(), ebb.begun))
    if _rests(ebb, quiet):
        return True
    passes = 2 * ebb.setting.limits.interval + REDELIVERY
    bound = longest_cordon(ebb) + passes
    return quiet > bound and quiet > (bound + passes if any(left_held(ebb)) else bound)


def _rests(ebb: Installation, quiet: float) -> bool:
    """Whether a whole pass has found nothing to do since the last disturbance, and nothing is left of any drain."""
    # A pass leaves a node alone while an order for it may still arrive, though the message was lost.
    state = ebb.remembered()
    if quiet < ebb.setting.limits.interval or ebb.is_busy() or ebb.is_lively() or state.claims or state.published:
        return False
    nodes = ebb.cloud.world.store.all("nodes")
    taints = [taint for node in nodes for taint in node["spec"].get("taints") or []]
    ours = any(f"{taint['key']}={taint.get('value', '')}".startswith(TAINT) for taint in taints)
    return not ours and not any(left_held(ebb)) and not any(map(_cordoned_by_ebb, nodes)) and ebb.found_nothing


def _cordoned_by_ebb(node: Json) -> bool:
    """Whether the cordon is Ebb's by the world's own account, whatever taints the node bears."""
    managers: list[Json] = node["metadata"].get("managedFields") or []
    return bool(node["spec"].get("unschedulable")) and any(manager["manager"] == AGENT for manager in managers)
