"""What one hop costs: a step whose time is over before its drain is, and that goes on in a new message.

One drain whose pod takes seven minutes to end, with the default step and with one as long as any drain; the
difference, by continuation.
"""

from datetime import timedelta
from typing import Final

from shared.settings import Settings
from tests.bench.bill import ITEMS
from tests.bench.counting import CountingBus, CountingPolicy, CountingState
from tests.bench.reporting import say
from tests.builders import CLUSTER, node, order, pdb, pod, policy
from tests.functions.fake_ebb import FakeEbb

GRACE: Final = timedelta(minutes=7)
LONG: Final = 540.0
Used = dict[str, float]


def used(step_seconds: float) -> tuple[Used, int]:
    """Return what is billed for the drain, what it asks of the Kubernetes API, and its hops."""
    slow = pod("p", on="n1", owner="ReplicaSet/web", grace_seconds=int(GRACE.total_seconds()))
    ebb = FakeEbb(
        *(node(f"n{index}") for index in range(1, 5)), slow, pdb("web", app="web"),
        step_seconds=step_seconds, one_instance=True,
    )  # fmt: skip
    state, bus, source = CountingState(CLUSTER, ebb.clock.now), CountingBus(), CountingPolicy(policy())
    ebb.state, ebb.bus, ebb.policy = state, bus, source
    ebb.drain(order())
    hops = 0
    while bus.published:
        ebb.deliver(bus.published.pop())
        hops += 1
    asked: Used = {
        "requests": 1 + hops,
        "message bytes": bus.billed_bytes,
        "reads": state.counted["reads"],
        "writes": state.counted["writes"],
        "objects": source.reads,
        "kubernetes": len(ebb.cluster.calls),
    }
    return asked, hops


def of_a_hop() -> Used:
    """Return what each continuation adds."""
    (short, hops), (long, none) = used(Settings(cluster=CLUSTER).step_seconds), used(LONG)
    assert none == 0
    return {name: (short[name] - long[name]) / hops for name in short}


def dollars(hop: Used) -> float:
    """Return a hop's price without any free tier."""
    return sum(ITEMS[name].price * amount for name, amount in hop.items() if name in ITEMS)


def run(*, quick: bool) -> None:
    """Print the operations of a hop, and what a million of them cost."""
    del quick
    hop = of_a_hop()
    for name, amount in hop.items():
        what = ITEMS[name].what if name in ITEMS else "calls of the Kubernetes API"
        say(f"a hop: {what}", f"{amount:+.1f}", "a handful")
    say("a million hops", f"${dollars(hop) * 1e6:.2f}", "$10")
