"""What a step sees before it decides, and the step that the core's rules choose by it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from functions.drainer import reads
from shared.core.cluster.autoscaling import NO_BUFFERS
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import claim_keys
from shared.core.draining.drain import Compare, Observation, Proof, Prove, ReturnNode, Step
from shared.core.draining.evicting import expires_at
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import claims_on_their_way_out, for_one_pod, waiting_for_a_place
from shared.core.rules.pods import movable
from shared.core.rules.workload_limits import other_claims
from shared.ports import Ports
from shared.store.compare_and_set import read_cluster
from shared.store.drain_record import LeasedRecord
from shared.store.snapshots import deletion_begun_at

SLOW_READ_TTL: Final = timedelta(seconds=5)


class Observer:
    """What the drainer sees; the slow parts are remembered for a few seconds."""

    def __init__(self, ports: Ports, leased: LeasedRecord) -> None:
        self._ports, self._leased = ports, leased
        self._slow: Observation | None = None
        self._read_at = float("-inf")
        self._proof: Proof | None = None
        self._asked: frozenset[str] = frozenset()
        self._exclusive: frozenset[str] = frozenset()

    def look(self) -> tuple[Observation, Step]:
        """Return what stands and the step that follows, chosen again once what it needs is read."""
        observed, step = self._choose(self.observe)
        if isinstance(step, Prove) and observed.node is not None:
            not_before = expires_at(self._proof) if self._proof else self._leased.record.cordoned_at
            self._proof = reads.prove(self._ports, self._leased, observed.node, not_before)
            # look at once, however long the proof took: in a new message it would be old
            observed, step = self._choose(self.observe)
        if isinstance(step, ReturnNode):  # what undoes a drain rests on what stands in this moment
            observed, step = self._choose(self.observe_again)
        return observed, step

    def _choose(self, observe: Callable[[], Observation]) -> tuple[Observation, Step]:
        now = self._leased.time.now()
        observed = observe()
        step = next_step(self._leased.record, observed, now)
        if isinstance(step, Compare):
            step = next_step(self._leased.record, reads.with_others(self._ports, self._leased, observed), now)
        return observed, step

    def observe(self) -> Observation:
        """Renew the lease and return the observation of this moment. Raises Retryable when a part cannot be read."""
        self._leased.renew()
        found = reads.node_named(self._ports, self._leased.record.order.node)
        node = found if found and found.uid == self._leased.record.node_uid else None
        pods = self._ports.cluster.pods_on(node.name) if node else ()
        self._remember_emptiness(pods)
        slow = self._slow_reads(pods)
        return replace(
            slow,
            node=node,
            pods=pods,
            unbound=self._waiting_for_a_place(slow.unbound, pods),
            emptied_at=self._leased.record.emptied_at,
            deletion_begun_at=self._begun_at(node),
            proof=self._proof,
        )

    def observe_again(self) -> Observation:
        """Return the observation with nothing remembered. Raises Retryable when a part cannot be read."""
        self._read_at = float("-inf")
        observed = self.observe()
        taken = observed.node is not None and reads.in_upgrade(self._ports, observed.node, self._leased.time.now())
        return replace(observed, in_upgrade=taken)

    def _remember_emptiness(self, pods: tuple[Pod, ...]) -> None:
        now, record = self._leased.time.now(), self._leased.record
        emptied_at = None if movable(pods, now) else record.emptied_at or now
        if emptied_at != record.emptied_at:
            self._leased.remember(emptied_at=emptied_at)

    def _waiting_for_a_place(self, unbound: tuple[Pod, ...], pods: tuple[Pod, ...]) -> tuple[Pod, ...]:
        """Return the waiting pods; one that waits for the end of a pod on this node does not wait for a place."""
        wanted = frozenset(key for pod in unbound for key in claim_keys(pod))
        held = self._for_one_pod(wanted & claims_on_their_way_out(pods), pods)
        if held:
            self._leased.remember(claims_held_at=self._leased.time.now())
        held_at = self._leased.record.claims_held_at
        return tuple(waiting_for_a_place(pod, held, held_at) for pod in unbound)

    def _for_one_pod(self, claims: frozenset[str], pods: tuple[Pod, ...]) -> frozenset[str]:
        """Return which of the claims one pod at a time may use; what is asked for is read once a step."""
        if not claims <= self._asked:
            storage = reads.storage_of(self._ports, pods, self._leased.time.now())
            self._asked, self._exclusive = self._asked | claims, self._exclusive | for_one_pod(claims, storage)
        return claims & self._exclusive

    def _begun_at(self, node: Node | None) -> datetime | None:
        """Ask what the autoscaler did only where our cordon is gone and our taint is not."""
        cleared = node is not None and node.drain_taint is not None and not node.unschedulable
        return deletion_begun_at(self._ports, "drain_step", node.name) if node and cleared else None

    def _slow_reads(self, pods: tuple[Pod, ...]) -> Observation:
        moment = self._ports.clock.monotonic()
        if self._slow is None or moment - self._read_at >= SLOW_READ_TTL.total_seconds():
            self._slow = self._read_slow_parts(pods)
            self._read_at = moment
        return self._slow

    def _read_slow_parts(self, pods: tuple[Pod, ...]) -> Observation:
        """Read all but the node and its pods; the lines that follow name the pool and the policy that were read."""
        ports, record, time = self._ports, self._leased.record, self._leased.time
        now = time.now()
        state, _, _ = read_cluster(ports.state)
        claim = state.claims.get(record.node_uid)
        if claim is not None:
            ports.log.add(pool=claim.pool)
        workloads, workloads_at = reads.workloads(ports, self._controllers(pods), now)
        return Observation(
            node=None,
            claim=claim,
            disruption_budgets=reads.disruption_budgets(ports, time.now()),
            workloads=workloads,
            workloads_at=workloads_at,
            other_claims=other_claims(state.claims, record.node_uid),
            working=sum(not claim.drained for claim in state.claims.values()),
            unbound=reads.unbound_pods(ports, time.now(), shared=not record.before),
            policy=reads.policy_in_reach(ports),
            paused=state.paused,
            buffers=reads.buffers(ports, time.now()) if record.buffers else NO_BUFFERS,
        )

    def _controllers(self, pods: tuple[Pod, ...]) -> Iterator[str]:
        """Name the controllers of what is to move, of what was moved, and of what waited: of its other ReplicaSets."""
        moved = self._leased.record.before
        yield from (pod.spec.workload for pod in movable(pods, self._leased.time.now()))
        yield from moved
        namespaces = {controller.partition("/")[0] for controller in moved}
        waiting = self._slow.unbound if self._slow else ()
        yield from (pod.spec.workload for pod in waiting if pod.spec.namespace in namespaces)
