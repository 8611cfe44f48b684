"""Forty orders of one pass, the real functions and the simulated broker's push window, virtual time."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.test_write_rates import Wide
from tests.faults.worlds import setting, workload
from tests.measured_figures import MEASURED

NODES, ORDERS = 100, 40
SECONDS = 150.0


@dataclass(frozen=True)
class Forty(Wide):
    """One pass may take forty of a hundred nodes."""

    pool: int = ORDERS
    ceiling: int = ORDERS
    minimum_nodes: int = 20


def test_forty_drains_are_under_way_within_two_minutes_and_no_node_is_ordered_twice(
    record_property: Callable[[str, object], None],
) -> None:
    web = workload("web", list(range(NODES)), cpu=120, pdb={"maxUnavailable": NODES})
    base = History(setting("a hundred nodes", [web], NODES, Forty(), enabled=False))
    ebb = Installation(base.setting, base.seed, base.faults, base.message_faults, base.clock_skew)
    ebb.call_gate.most_calls = 1_000_000
    ebb.live(SECONDS)
    ebb.threads.dismiss()

    writes = ebb.cloud.world.record.of("state")
    reached = {len(entry["after"].claims): entry["at"] for entry in reversed(writes)}
    tens = {count: at - ebb.begun for count, at in sorted(reached.items()) if count % 10 == 0 < count}
    told = ", ".join(f"{count} after {at:.0f} s" for count, at in tens.items())
    record_property(MEASURED, f"100 nodes, 40 orders behind the push window: {told}")
    orders = [
        call.what for call in ebb.call_gate.calls if call.what.startswith("publish drain") and "tick" in call.actor
    ]
    assert ORDERS in reached
    assert reached[ORDERS] - ebb.begun <= 120
    assert len(orders) == len(set(orders)) == ORDERS
