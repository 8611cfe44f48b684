"""How many drains are under way after how long, behind Pub/Sub's push window: by the length of a step.

Forty orders are published at once under a budget of forty. A drain is claimed two seconds after its first push and
lasts three minutes; each step holds its push until the step's time is over, then publishes its continuation and
acknowledges. The broker is the simulated GKE's; the time is virtual, so that the figures are the same everywhere.
"""

from dataclasses import dataclass, field
from typing import Final

from infra.local.broker import Broker, Push, Subscription
from infra.local.clocks import ManualClock
from tests.measured_figures import say

ORDERS: Final = 40
CLAIM_SECONDS: Final = 2.0
DRAIN_SECONDS: Final = 180.0
AT: Final = (30, 60, 90, 120, 300, 600)
TOPIC: Final = "projects/p/topics/orders"


@dataclass(frozen=True)
class Steps:
    """How a drainer divides its work. `after_claim`: the first step ends as soon as the claim is granted."""

    seconds: float
    after_claim: bool = False

    def lasts(self, generation: int, worked: float) -> float:
        if generation == 0 and self.after_claim:
            return CLAIM_SECONDS
        return min(self.seconds, DRAIN_SECONDS - worked)


@dataclass
class WindowRun:
    """The orders of one pass and what has become of them."""

    steps: Steps
    clock: ManualClock = field(default_factory=ManualClock)
    claimed: list[float] = field(default_factory=list)
    """When each drain was claimed, in seconds after the pass."""
    hops: int = 0
    drained: int = 0

    def __post_init__(self) -> None:
        self._began = self.clock.now()
        self._broker = Broker(self.clock, {TOPIC})
        self._broker.subscribe(Subscription("projects/p/subscriptions/orders", TOPIC, "http://drainer"))
        self._ends: list[tuple[float, Push, float]] = []

    def run(self, seconds: float) -> None:
        """Let the orders be published, and so much time pass."""
        for _ in range(ORDERS):
            self._broker.publish(TOPIC, b"0", {"worked": "0"})
        while self.clock.now() - self._began < seconds:
            self._end_steps()
            for push in self._broker.due():
                self._begin(push)
            self.clock.advance(0.5)

    def under_way(self, seconds: float) -> int:
        """Return how many drains were claimed by then."""
        return sum(at <= seconds for at in self.claimed)

    def all_by(self) -> float | None:
        """Return after how long the last of them was claimed."""
        return max(self.claimed) if len(self.claimed) == ORDERS else None

    def _begin(self, push: Push) -> None:
        now, generation = self.clock.now(), int(push.message.data)
        worked = float(push.message.attributes["worked"])
        if generation == 0:
            self.claimed.append(now + CLAIM_SECONDS - self._began)
        lasts = self.steps.lasts(generation, worked)
        self._ends.append((now + lasts, push, worked + lasts))

    def _end_steps(self) -> None:
        now = self.clock.now()
        ended, self._ends = [row for row in self._ends if row[0] <= now], [row for row in self._ends if row[0] > now]
        for _, push, worked in ended:
            if worked < DRAIN_SECONDS:
                self.hops += 1
                self._broker.publish(TOPIC, b"%d" % (int(push.message.data) + 1), {"worked": str(worked)})
            else:
                self.drained += 1
            self._broker.settle(push.number, 204)


def run_window(steps: Steps, seconds: float = 1800.0) -> WindowRun:
    """Return how it went."""
    found = WindowRun(steps)
    found.run(seconds)
    return found


def run(*, quick: bool) -> None:
    """Print the drains under way by time, for several lengths of a step."""
    del quick
    for name, steps in (
        ("480 s", Steps(480)),
        ("480 s, the first ends with the claim", Steps(480, after_claim=True)),
        ("25 s", Steps(25)),
        ("25 s, the first ends with the claim", Steps(25, after_claim=True)),
    ):
        went = run_window(steps)
        by_time = " ".join(f"{at}s:{went.under_way(at)}" for at in AT)
        last = went.all_by()
        end = f"all {ORDERS} by {last:.0f} s" if last is not None else "not all in half an hour"
        say(f"steps of {name}: {end}, {went.hops / ORDERS:.1f} hops a drain", by_time, "40 by 120 s")
