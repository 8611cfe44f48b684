"""Drains on a real control plane while the processes that do them are killed at random moments; two hundred of them in
a deep run.

Everything is real: etcd, API server, scheduler, controller manager, both emulators, both functions as processes. The
judge reads the API server's own record. `EBB_SEED` draws the same acts again, and `KILLED_DRAINERS` sets how many
drains there are.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random

import pytest

from infra.local.demo.evidence import Evidence, limits_of
from tests.depth import DEEP, SEED
from tests.fixtures_real import NewControlPlane
from tests.measured_figures import MEASURED
from tests.real.audit_record import Audit, entries
from tests.real.control_plane import ControlPlane
from tests.real.disturbances import TICK_EVERY, Disturbances, Planner
from tests.real.installation import NO_BUDGET, Installation, RealServices, policy_text
from tests.real.load import NAMESPACE, NODES, POOLS, RISES_IN, ChangingLoad
from tests.real.promise import breaches, rates
from tests.real.waiting import until
from tests.real.watches import Watch

WANTED = int(os.environ.get("KILLED_DRAINERS", "200" if DEEP else "20"))
ATTEMPTS = 2
MOST_SECONDS, MOST_SECONDS_TO_END = 300.0 + 5 * WANTED, 480.0
"""Ample, for machines that are busy. A drain that was hit in its last moment waits for its lease, its deadline and the
watchdog."""
pytestmark = [
    pytest.mark.control_plane,
    pytest.mark.timeout(ATTEMPTS * (60 + RISES_IN) + MOST_SECONDS + MOST_SECONDS_TO_END),
]
IN_FLIGHT, HANDS, LEFT = NODES * 2 // 5, NODES * 3 // 5, NODES * 3 // 10
LIMITS = {"minimumNodes": LEFT, "rate": {"nodes": 2000, "per": "1h"}}
DRAIN = {"timeout": "4m", "maxGracePeriod": "5s", "watchdog": "60s", "pendingGrace": "20s",
         "backoff": {"first": "30s", "most": "60s"}}  # fmt: skip
policy = partial(
    policy_text, "load", IN_FLIGHT, DRAIN, scaleDownRequiredUnderutilizedNodeCount=1, maxNodesPerPass=IN_FLIGHT,
    unprotected="75%",
)  # fmt: skip
SETTINGS = {"WORKERS": "5" if DEEP else "4", "EBB_STEP_SECONDS": "15", "EBB_PASS_SECONDS": "20"}
"""Several workers of each function; steps so short that a drain goes over several messages."""


@dataclass(frozen=True)
class Prepared:
    plane: ControlPlane
    ebb: Installation
    load: ChangingLoad
    watch: Watch
    random: Random


@pytest.fixture
def prepared(
    new_control_plane: NewControlPlane,
    services_on: Callable[..., RealServices],
    record_property: Callable[[str, object], None],
) -> Iterator[Prepared]:
    """A world that stands. One whose pods do not start is made once more: that is not what is judged here."""
    for attempt in range(ATTEMPTS):
        with ExitStack() as stack:
            plane = stack.enter_context(new_control_plane())
            found = _installed(stack, plane, services_on(plane, f"ebb-{attempt}"))
            try:
                found.load.rise()
            except AssertionError as stuck:
                record_property(MEASURED, f"killed drainers: {stuck}\n{plane.last_words()}")
                if attempt == ATTEMPTS - 1:
                    raise
                continue
            yield found
            return


def _installed(stack: ExitStack, plane: ControlPlane, services: RealServices) -> Prepared:
    random = Random(SEED)  # noqa: S311 - kills, not secrets
    watch = stack.enter_context(Watch(plane.proxy_url))
    ebb = stack.enter_context(Installation(services, policy(LIMITS), POOLS, SETTINGS, hands=HANDS))
    return Prepared(plane, ebb, ChangingLoad(plane.api, ebb.publish, random), watch, random)


def test_drains_end_well_however_often_their_processes_are_killed(
    prepared: Prepared, record_property: Callable[[str, object], None]
) -> None:
    disturbances, planner = Disturbances(prepared.ebb, prepared.load, prepared.random), Planner(prepared.ebb)
    planner.start()
    until(f"{WANTED} drains ended", lambda: disturbances.live() >= WANTED, MOST_SECONDS)
    prepared.ebb.bucket.put("policies", "policy.yaml", policy(LIMITS | NO_BUDGET).encode())
    until("the end of every drain", disturbances.is_over, MOST_SECONDS_TO_END)
    until("every pod ready", prepared.load.is_calm)
    until("the end of the wave", prepared.load.is_free)
    planner.stop()
    prepared.watch.stop()

    disturbances.say(f"ticks {dict(planner.answers)}; people: {', '.join(prepared.load.asked)}")
    assert disturbances.most_claims <= IN_FLIGHT
    audit = prepared.plane.audit()
    lost = f"kwok lost {prepared.plane.pods_lost_by_kwok} pods, at which kubelets looked again"
    for line in (f"seed {SEED}: {disturbances.summary()}", *rates(audit), lost):
        record_property(MEASURED, f"killed drainers: {line}")
    assert judged(prepared, audit) == []


def judged(prepared: Prepared, audit: Sequence[Audit]) -> list[str]:
    evidence = Evidence(
        entries=entries(prepared.watch.seen(), audit),
        limits=limits_of(policy(LIMITS), TICK_EVERY),
        passes=(),
        cordoned_by_persons=frozenset(prepared.load.cordoned),
    )
    return breaches(evidence, audit, prepared.plane.api.budgets(NAMESPACE))
