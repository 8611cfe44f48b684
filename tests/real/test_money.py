"""One night on a real control plane: the bill with Ebb beside an autoscaler, against the autoscaler alone.

The law is that of docs/decisions/money-over-days.md. The autoscaler is the simulated GKE's with its real gate. Its
times are a twentieth of the balanced profile's. It removes one node with pods after another, each in some eleven
seconds, for evictions take the time that they take. The policy has no time gap and three nodes a pass, which favours
Ebb.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import msgspec
import pytest

from infra.local.clocks import SystemClock
from infra.local.http_messages import HttpTransport, RefusedCall
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scaling.view import AutoscalerSettings
from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.prices import load
from tests.depth import SEED
from tests.fixtures_real import NewControlPlane
from tests.measured_figures import MEASURED
from tests.real.audit_record import EBB, Audit, about, is_dry
from tests.real.control_plane import ControlPlane
from tests.real.installation import Installation, Memory, RealServices
from tests.real.nights import MOST_WAITING, is_bound, longest_wait, node_names, run_pass
from tests.real.two_machine_types import POOLS, NightCluster
from tests.real.waiting import until
from tests.real.watches import Seen, Watch

FASTER: Final = 20
SETTINGS: Final = AutoscalerSettings(
    scan_interval=10 / FASTER,
    unneeded_time=600 / FASTER,
    recheck=300 / FASTER,
    delay_after_failure=180 / FASTER,
    delay_after_delete=10 / FASTER,
    deletion=60 / FASTER,
    eviction_time=120 / FASTER,
    grace_headroom=5,
)
STILL, LONGEST = 60.0, 300.0
"""The night is over when no node has come or gone for so long; at the latest after so many seconds."""
ABOVE: Final = 1.005
"""What the bill may be, of the autoscaler's alone."""
POLICY: Final = """
dryRun: false
cluster:
  timeSinceLastAddition: 0s
  timeGap: 0s
  rate: {nodes: 100%, per: 1m}
drain: {timeout: 2m, watchdog: 2m}
defaults:
  enabled: true
  minimumNodeAge: 0s
  maxNodesPerPass: 3
  disruption: {consolidateAfter: 15s, budgets: [{nodes: 3}]}
nodePools: {cheap: {}, dear: {}}
"""
pytestmark = [pytest.mark.control_plane, pytest.mark.deep, pytest.mark.timeout(4 * LONGEST)]


@dataclass(frozen=True)
class Night:
    """What became of the cluster; money in micro-dollars."""

    nodes: Mapping[str, int]
    """By pool, at the end."""
    per_hour: int
    bills: tuple[tuple[float, int], ...]
    """The bill an hour from each change of the nodes on, in seconds since the night began."""
    evictions: Mapping[str, int]
    """By who asked for them."""
    waited: float
    """The longest time of a replacement without a node, in seconds."""

    def paid(self, until: float) -> float:
        """What it costs from its begin until then, at the autoscaler's pace."""
        ends = [*self.bills, (until, 0)]
        return sum(bill * (after - at) for (at, bill), (after, _) in pairwise(ends)) / 3600 * FASTER

    def __str__(self) -> str:
        who = ", ".join(f"{count} evictions by {name}" for name, count in sorted(self.evictions.items()))
        left = ", ".join(f"{count} {pool}" for pool, count in sorted(self.nodes.items()))
        curve = " ".join(f"{at:.0f}s:{bill / 1e6:.2f}" for at, bill in self.bills)
        return f"{left} nodes, ${self.per_hour / 1e6:.3f} an hour, {who}, waited {self.waited:.1f} s [{curve}]"


def test_a_night_never_costs_more_with_ebb_than_with_the_autoscaler_alone(
    new_control_plane: NewControlPlane,
    services_on: Callable[..., RealServices],
    record_property: Callable[[str, object], None],
) -> None:
    cluster = NightCluster(SEED)
    with new_control_plane() as plane:
        alone = night(plane, cluster, lambda: by_itself(plane))
    with new_control_plane() as plane:
        services = services_on(plane, f"ebb-money-{SEED}")
        together = night(plane, cluster, lambda: with_ebb(services))
    ends = max(found.bills[-1][0] for found in (alone, together)) + STILL
    paid, its = together.paid(ends), alone.paid(ends)
    bills = f"${its / 1e6:.2f} alone, ${paid / 1e6:.2f} with Ebb in {ends * FASTER / 60:.0f} min"
    record_property(MEASURED, f"money, seed {SEED}: {bills}\n  alone: {alone}\n  with Ebb: {together}")

    assert together.per_hour <= ABOVE * alone.per_hour
    assert paid <= ABOVE * its
    assert together.waited <= max(MOST_WAITING, alone.waited)
    assert together.evictions[_EBB] > 0 < together.evictions[_AUTOSCALER]


Step = Callable[[], object]


@contextmanager
def by_itself(plane: ControlPlane) -> Iterator[Step]:
    autoscaler = Autoscaler(HttpTransport(plane.proxy_url), POOLS, SystemClock(), SETTINGS)

    def step() -> None:
        with suppress(RefusedCall):  # somebody else wrote the node meanwhile: the next look starts afresh
            autoscaler.step()

    yield step


@contextmanager
def with_ebb(services: RealServices) -> Iterator[Step]:
    """Ebb beside the same autoscaler, one pass for each step; what has begun ends before the block does."""
    settings = {"EBB_STEP_SECONDS": "15"}
    with Installation(services, POLICY, POOLS, settings, hands=6, scaling=SETTINGS) as ebb:
        yield lambda: answers(ebb)
        ebb.bucket.put("policies", "policy.yaml", f"paused: true\n{POLICY}".encode())
        until("every drain ended", lambda: run_pass(ebb) and Memory(ebb).is_at_rest())


def answers(ebb: Installation) -> bool:
    """Let one pass happen; where it fails, as on a slow emulator, the next one follows. Those at the end must not."""
    with suppress(AssertionError):
        return run_pass(ebb)
    return False


def night(plane: ControlPlane, cluster: NightCluster, act: Callable[[], AbstractContextManager[Step]]) -> Night:
    cluster.populate(plane.api)
    with Watch(plane.proxy_url) as watch:
        first = {pod["metadata"]["uid"] for pod in plane.api.pods()}
        with act() as step:
            begun = time.time()
            rest(plane, step)
        until("every pod has a node", lambda: all(map(is_bound, plane.api.pods())))
    seen = watch.seen()
    bills = tuple(bills_of(seen, begun))
    return Night(
        nodes=Counter(item["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for item in plane.api.items(NODES)),
        per_hour=bills[-1][1],
        bills=bills,
        evictions=Counter(map(asked_by, filter(is_granted, plane.audit()))),
        waited=longest_wait(seen, first),
    )


NODES: Final = "/api/v1/nodes"
_EBB, _AUTOSCALER = "Ebb", "the autoscaler"
_node: Final = msgspec.json.Decoder(wire.Node)


def rest(plane: ControlPlane, step: Step) -> None:
    begun = since = time.monotonic()
    before = node_names(plane)
    while time.monotonic() - since < STILL and time.monotonic() - begun < LONGEST:
        step()
        if (now := node_names(plane)) != before:
            before, since = now, time.monotonic()
        time.sleep(0.2)


def bills_of(seen: Iterable[Seen], begun: float) -> Iterator[tuple[float, int]]:
    """Yield the bill an hour at the begin and from each change of the nodes on."""
    there: dict[str, int] = {}
    at, bill = 0.0, 0
    for change in seen:
        if change.plural != "nodes":
            continue
        name = change.thing["metadata"]["name"]
        if change.gone:
            there.pop(name, None)
        else:
            there.setdefault(name, price_of(change.thing))
        if sum(there.values()) == bill:
            continue
        if (now := max(0.0, change.at - begun)) != at:
            yield at, bill
        at, bill = now, sum(there.values())
    yield at, bill


def price_of(thing: Mapping[str, object]) -> int:
    return load().of(node_objects.node(_node.decode(msgspec.json.encode(thing)))).per_hour


def is_granted(entry: Audit) -> bool:
    is_eviction = about(entry).get("subresource") == "eviction" and not is_dry(entry)
    return is_eviction and entry["responseStatus"]["code"] < 300


def asked_by(entry: Audit) -> str:
    return _EBB if entry.get("userAgent") == EBB else _AUTOSCALER
