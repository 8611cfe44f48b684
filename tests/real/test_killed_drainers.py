"""Two hundred drains on a real control plane while the processes that do them are killed at random moments.

Everything is real: etcd, API server, scheduler, controller manager, both emulators, both functions as processes. The
judge reads the API server's own record. `KILLED_DRAINERS_SEED` runs the same kills and the same world once more.
"""

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import pytest
import requests

from functions.cli.demo.promise import nodes, pods
from functions.cli.demo.promise.evidence import Evidence, guards_of, limits_of
from infra.local.control_plane import ControlPlane
from infra.local.emulators import FirestoreEmulator, PubSubEmulator
from shared.adapters.firestore import FirestoreState
from shared.core.state import ClusterState, DrainPhase, DrainRecord
from shared.ports import CLUSTER as CLUSTER_KEY
from tests.rates import busiest, sustained
from tests.real.installation import CLUSTER, Ground, Installation
from tests.real.killing import Killer
from tests.real.record import Audit, at, by_ebb, entries, granted, is_dry, is_write, uid_asked_for
from tests.real.tide import POOLS, Tide, budgets, controllers
from tests.real.waiting import until
from tests.real.watching import Watch

pytestmark = [pytest.mark.control_plane, pytest.mark.slow]
WANTED = int(os.environ.get("KILLED_DRAINERS", "200"))
SEED = int(os.environ.get("KILLED_DRAINERS_SEED", str(int(time.time()))))
MOST_SECONDS = 480.0
TICK_EVERY = 8.0
IN_FLIGHT = 40
POLICY = f"""
dryRun: false
cluster:
  minimumNodes: 30
  timeSinceLastAddition: 0s
  timeGap: 0s
  disruption: {{budgets: [{{nodes: {IN_FLIGHT}}}]}}
  rate: {{nodes: 2000, per: 1h}}
drain: {{timeout: 4m, maxGracePeriod: 5s, watchdog: 60s, pendingGrace: 20s, backoff: {{first: 30s, most: 60s}}}}
nodePools:
  tide:
    enabled: true
    scaleDownRequiredUnderutilizedNodeCount: 1
    minimumNodeAge: 0s
    excessNodesThreshold: 0
    maxNodesPerPass: {IN_FLIGHT}
    disruption: {{consolidateAfter: 1s, expireAfter: Never, budgets: [{{nodes: {IN_FLIGHT}}}]}}
"""
NO_MORE = POLICY.replace(f"budgets: [{{nodes: {IN_FLIGHT}}}]", "budgets: [{nodes: 0}]", 1)
SETTINGS = {"WORKERS": "5", "EBB_STEP_SECONDS": "10", "EBB_PASS_SECONDS": "20"}
"""Five workers of each function; steps so short that a drain goes over several messages."""
HANDS = 60
ENDED = frozenset({"removed", "given_back", "overruled", "released"})


@dataclass(frozen=True)
class Stand:
    """All that the history needs."""

    plane: ControlPlane
    ebb: Installation
    tide: Tide
    killer: Killer
    watch: Watch
    random: Random


@pytest.fixture
def stand(
    firestore_emulator: FirestoreEmulator, pubsub_emulator: PubSubEmulator, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stand]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator.host)
    random = Random(SEED)  # noqa: S311 - kills, not secrets
    with ControlPlane() as plane, Watch(plane.proxy_url) as watch:
        ground = Ground(
            plane.kubeconfig, plane.proxy_url, firestore_emulator.host, pubsub_emulator.host, database="ebb-killed"
        )
        with Installation(ground, POLICY, POOLS, SETTINGS, hands=HANDS) as ebb:
            tide = Tide(plane.api, ebb.publish, random)
            tide.rise()
            yield Stand(plane, ebb, tide, Killer(ebb, random), watch, random)


class Planner(threading.Thread):
    """Cloud Scheduler: calls the planner every few seconds, whatever it answers."""

    def __init__(self, ebb: Installation) -> None:
        super().__init__(daemon=True)
        self._ebb, self._stopping = ebb, threading.Event()
        self.answers: Counter[str] = Counter()

    def run(self) -> None:
        while not self._stopping.wait(TICK_EVERY):
            try:
                response = requests.post(f"http://127.0.0.1:{self._ebb.planner_port}/", json={}, timeout=60)
            except requests.RequestException as failure:
                self.answers[type(failure).__name__] += 1
            else:
                word = "duplicate" if "duplicate" in response.text else str(response.status_code)
                self.answers[word] += 1

    def stop(self) -> None:
        self._stopping.set()
        self.join(60)


def test_drains_end_well_however_often_their_processes_are_killed(stand: Stand) -> None:
    say(f"seed {SEED}: KILLED_DRAINERS_SEED={SEED} runs it again")
    began = time.monotonic()
    planner = Planner(stand.ebb)
    planner.start()
    state = store(stand.ebb)
    most_claims = live(stand, state)
    stand.ebb.bucket.put("policies", "policy.yaml", NO_MORE.encode())
    say(f"{stand.killer.killed} killed, ticks {dict(planner.answers)}, {time.monotonic() - began:.0f} s")
    until("every drain settled", lambda: is_quiet(stand, state), 240)
    until("every pod ready", stand.tide.is_calm, 60)
    planner.stop()
    stand.watch.stop()
    say(f"{time.monotonic() - began:.0f} s, most claims {most_claims}, {Counter(stand.tide.asked)}")
    judge(stand, most_claims)


def live(stand: Stand, state: FirestoreState) -> int:
    """Kill, rise and fall until enough drains have ended; return the most claims that stood at once."""
    began = time.monotonic()
    due = {"strike": 10.0, "turn": 4.0, "interfere": 15.0, "top up": 2.0, "look": 1.0}
    every = {"strike": (4, 10), "turn": (4, 8), "interfere": (6, 12), "top up": (3, 5), "look": (2, 2)}
    most, ended = 0, 0

    def look() -> None:
        nonlocal most, ended
        claims, found = len(cluster(state).claims), outcomes(state)
        most, ended = max(most, claims), sum(count for outcome, count in found.items() if outcome in ENDED)
        say(f"{time.monotonic() - began:.0f} s: {dict(found)}, {claims} claims")

    acts = {
        "strike": stand.killer.strike,
        "turn": stand.tide.turn,
        "interfere": stand.tide.interfere,
        "top up": stand.tide.top_up,
        "look": look,
    }

    def enough() -> bool:
        now = time.monotonic() - began
        for name, act in acts.items():
            if now >= due[name]:
                act()
                due[name] = now + stand.random.uniform(*every[name])
        return ended >= WANTED

    until(f"{WANTED} drains ended", enough, MOST_SECONDS)
    return most


def is_quiet(stand: Stand, state: FirestoreState) -> bool:
    claims, held = cluster(state).claims, stand.tide.held()
    say(f"left: {len(claims)} claims, {len(held)} nodes held, {dict(outcomes(state))}")
    threading.Event().wait(2.0)
    return not claims and not held


def judge(stand: Stand, most_claims: int) -> None:
    audit = stand.plane.audit()
    record = entries(stand.watch.seen(), audit)
    api = stand.plane.api
    evidence = Evidence(
        entries=record,
        guards=guards_of(budgets(api), controllers(api)),
        limits=limits_of(POLICY, TICK_EVERY),
        passes=(),
        cordoned_by_persons=frozenset(stand.tide.cordoned),
    )
    tell_rates(audit)
    say(f"{len(pods.evictions(evidence))} evictions, {len(nodes.starts(evidence))} cordons")
    breaches = [
        *pods.broken_budgets(evidence),
        *pods.left_without_place(evidence),
        *pods.deleted_by_ebb(evidence),
        *nodes.exceeded_limits(evidence),
        *nodes.cordons_for_nothing(evidence),
        *nodes.meddling(evidence),
    ]
    asked = [uid_asked_for(entry) for entry in granted(audit)]
    known = {entry["uid"]: entry["name"] for entry in record if entry["type"] == "change" and entry["kind"] == "pods"}
    wrong = [entry for entry in granted(audit) if known.get(uid_asked_for(entry)) != entry["objectRef"]["name"]]
    twice = [uid for uid, count in Counter(asked).items() if count > 1]
    records = [found.value for found in store(stand.ebb).all("drains", DrainRecord).values() if found.value]
    assert breaches == []
    assert wrong == []
    assert twice == []
    assert most_claims <= IN_FLIGHT
    assert {(drain.phase, drain.lease) for drain in records} == {(DrainPhase.SETTLED, None)}


def tell_rates(audit: Sequence[Audit]) -> None:
    ours = by_ebb(audit)
    writes = [at(entry) for entry in ours if is_write(entry)]
    dry = [at(entry) for entry in ours if is_dry(entry)]
    for what, times in (("writes", writes), ("dry-run evictions", dry), ("both", [*writes, *dry])):
        say(
            f"{what}: {len(times)}, peak {busiest(times, 1)}/s, 10 s {sustained(times, 10):.1f}/s, "
            f"60 s {sustained(times, 60):.1f}/s"
        )


def outcomes(state: FirestoreState) -> Counter[str]:
    found = state.all("drains", DrainRecord).values()
    return Counter(each.value.outcome or each.value.phase.value for each in found if each.value)


def store(ebb: Installation) -> FirestoreState:
    return FirestoreState("local", ebb.ground.database, CLUSTER)


def cluster(state: FirestoreState) -> ClusterState:
    return state.get(CLUSTER_KEY).value or ClusterState()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
