"""Short histories on fakes in which, together, each event and each metric has its line."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import flask
import pytest

from functions.planner.main import answer
from shared.core.policy import Limit
from shared.core.policy.values import Commitments, FlexibleCommitment, WaveLimits
from shared.core.records.drain_record import EvictionAnswer
from shared.core.records.orders import OrderKind
from shared.core.records.state import Backoff, ClusterState
from shared.errors import Retryable, Terminal
from shared.ports import Eviction
from shared.settings import Settings
from tests.adapters.scripted import kubeconfig
from tests.builders import NOW, node, order, our_taint, pdb, pod, pod_class, policy
from tests.functions.drainer import rollouts
from tests.functions.fake_ebb import FakeEbb
from tests.monitoring.alarm import Entry, read, written


def fake_ebb(**changes: Any) -> FakeEbb:
    """Three nodes with a pod each; the pod of n1 has a PodDisruptionBudget."""
    pods = [pod(f"p{index}", on=f"n{index}", cpu=1, owner=f"ReplicaSet/r{index}") for index in (1, 2, 3)]
    return FakeEbb(*(node(f"n{index}") for index in (1, 2, 3)), *pods, pdb("r1", app="r1"), **changes)


def tick(ebb: FakeEbb, run_id: str = "r1") -> dict[str, Any]:
    """One planner call whose lines carry the run, as its entry point has them do."""
    plain = ebb.log
    ebb.log = plain.bind(run_id=run_id)
    try:
        return ebb.tick()
    finally:
        ebb.log = plain


def entries(ebb: FakeEbb, level: str = "DEBUG") -> list[Entry]:
    return written(ebb.log.lines, level)


def misspelt() -> FakeEbb:
    """The policy names a pool that the cluster does not have."""
    own = policy()
    ebb = fake_ebb(policy=replace(own, pools={**own.pools, "aa": own.pools["a"]}))
    tick(ebb)
    return ebb


def removal() -> FakeEbb:
    """A node is ordered, drained, deleted by the autoscaler and settled; then a pass sees what is saved."""
    ebb = fake_ebb()
    tick(ebb)
    ebb.deliver(ebb.bus.published.pop())
    del ebb.cluster.nodes["n1"]
    for run_id in ("r2", "r3"):
        ebb.pass_time(minutes=5)
        tick(ebb, run_id)
    return ebb


def returned() -> FakeEbb:
    """A PodDisruptionBudget holds a pod until the drain's deadline."""
    ebb = fake_ebb()
    ebb.cluster.answers["default/p1"] = [
        Eviction(EvictionAnswer.GRANTED),
        *[Eviction(EvictionAnswer.BUDGET, "default/r1")] * 200,
    ]
    ebb.drain_to_end(order())
    return ebb


def trouble() -> FakeEbb:
    """No policy, then a breaker, an orphan, messages that are no orders, and a drain that a person must fix."""
    ebb = fake_ebb(policy=None)
    tick(ebb)
    ebb.drain(order("n3", order_id="third"))
    ebb.policy.policy = policy()
    ebb.cluster.put(node("n9", unschedulable=True, taints=(our_taint("lost"),)))
    half = timedelta(minutes=30)
    failed = {f"uid-n{index}": Backoff(f"n{index}", NOW + half, half, "deadline") for index in (1, 2, 3)}
    ebb.remember(ClusterState(backoffs=failed))
    ebb.pass_time(minutes=1)
    tick(ebb, "r2")
    ebb.deliver(ebb.bus.published.pop())
    ebb.deliver(b"{}")
    ebb.drain(order("n1", order_id="asked", origin="manual", reason="manual", dry_run=True))
    ebb.cluster.failures["node"] = [Terminal("kubernetes", "the right to read nodes is missing")]
    ebb.drain(order("n2", order_id="second"))
    return ebb


def release() -> FakeEbb:
    """A person frees a node of which Ebb remembers nothing."""
    ebb = fake_ebb()
    ebb.cluster.put(replace(node("n1"), unschedulable=True, taints=(our_taint("lost"),)))
    ebb.deliver(order(kind=OrderKind.RELEASE, order_id="lost"))
    return ebb


def steered() -> FakeEbb:
    """Pods on the node that goes next get a deletion cost."""
    web = pod_class(owner="ReplicaSet/web")
    rules = policy(steer_scale_in=True, consolidate_after=timedelta(hours=1))
    pods = [pod(f"w{index}", on=f"n{index}", kind=web) for index in (1, 2)]
    ebb = FakeEbb(node("n1"), node("n2"), *pods, policy=rules)
    tick(ebb)
    return ebb


def surged() -> FakeEbb:
    """A single replica leaves by a restart of its Deployment."""
    ebb, _ = rollouts.fake_ebb()
    ebb.drain(order())
    return ebb


def committed() -> FakeEbb:
    """Commitments are listed once, and cannot be listed an hour later; a flexible one is always paid."""
    flexible = FlexibleCommitment(Fraction(1), Fraction(28, 100))
    ebb = fake_ebb(policy=policy(cluster_wide={"commitments": Commitments(flexible=flexible, read=True)}))
    tick(ebb)
    ebb.pass_time(hours=1)
    ebb.commitments.failure = Retryable("Compute API", "no answer in time")
    tick(ebb)
    return ebb


def waved() -> FakeEbb:
    """A wave begins, its nodes are tainted, and another policy ends it."""
    limits = WaveLimits(Limit(percent=50), timedelta(minutes=90))
    ebb = fake_ebb(policy=policy(cluster_wide={"wave": limits}))
    tick(ebb)
    for sent in [sent for sent in ebb.bus.published if sent.kind is OrderKind.HOLD]:
        ebb.deliver(sent)
    ebb.policy.policy = policy(cluster_wide={"hash": "other"})
    ebb.remember(ClusterState())
    tick(ebb, "r2")
    return ebb


def summed_up() -> FakeEbb:
    """A week of a dry run ends and is published; so is the next, once the results topic takes it."""
    own = policy()
    ebb = fake_ebb(policy=replace(own, dry_run=True))
    tick(ebb)
    for fault in (None, Retryable("Pub/Sub", "no answer in time"), None):
        ebb.pass_time(days=7)
        ebb.bus.results_failure = fault
        tick(ebb, "r2")
    return ebb


HISTORIES: dict[str, Callable[[], FakeEbb]] = {
    "removal": removal,
    "given back": returned,
    "trouble": trouble,
    "release": release,
    "a misspelt pool": misspelt,
    "scale-in steered": steered,
    "surged": surged,
    "a wave": waved,
    "commitments": committed,
    "a weekly summary": summed_up,
}


def outage(folder: Path) -> list[Entry]:
    """What the planner's own entry point writes at level DEBUG when the cluster does not answer."""
    kubeconfig(folder, server="http://127.0.0.1:9")
    (folder / "policy.yaml").write_text("dryRun: true")
    settings = Settings(
        cluster=FakeEbb().settings.cluster,
        topic="projects/p/topics/t",
        state=f"sqlite:{folder / 'state'}",
        policy=str(folder / "policy.yaml"),
        kubeconfig=str(folder / "kubeconfig"),
        gke_api="none",
        log_level="DEBUG",
    )
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBSUB_EMULATOR_HOST", "127.0.0.1:9")  # no credentials are asked for
        _answer_one_tick(settings, stream)
    return read(stream.getvalue())


def _answer_one_tick(settings: Settings, stream: io.StringIO) -> None:
    with redirect_stdout(stream), flask.Flask("tick").test_request_context(method="POST"):
        answer(flask.request, settings)
