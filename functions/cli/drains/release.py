"""`ebb release`: publishes release orders, and waits until claims and taints of the named nodes are gone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from functions.cli.drains.client import SILENT_AFTER, Installation, manual_order, node_name, poll, print_what_to_check
from functions.cli.drains.drain import sentence
from functions.cli.errors import INTERRUPTED, WRONG, message_of
from functions.cli.output.format import count, moment, some, span
from functions.cli.output.terminal import print_sentence, print_warning
from shared.core.cluster.node import Node, holding_order
from shared.core.reasons import Outcome, Refusal
from shared.core.records.orders import MOST_HELD, OrderKind, parts
from shared.core.records.state import ClusterState, WaveNode
from shared.errors import BadSettings, Gone, Retryable, Terminal, Unreadable
from shared.ports import WAVE_KEY, Cluster, State, drain_key
from shared.settings import read_settings
from shared.store.compare_and_set import read_cluster, read_lenient, while_stale
from shared.wiring import NO_GKE_API, cluster_of

_ONLY_CLAIMS: Final = (
    "only nodes with a claim in the state are known. Give --kubeconfig to find every node with our taint"
)


@dataclass(frozen=True, slots=True)
class ReleaseTarget:
    """One node that is held: by a claim, or by our taint alone. Without `order_id` nobody knows whether it is."""

    node: str
    uid: str = ""
    order_id: str = ""


@dataclass(frozen=True, slots=True)
class VisibleNodes:
    """The cluster's nodes, as far as this machine can see them; `note` is the reason if it cannot."""

    cluster: Cluster | None = None
    nodes: tuple[Node, ...] = ()
    note: str = ""


ReadNodes = Callable[[], VisibleNodes]


def read_nodes(environment: Mapping[str, str], kubeconfig: Path | None) -> VisibleNodes:
    """Read the nodes by the kubeconfig that was given, which may fail; else by the GKE API; else not at all."""
    settings = read_settings(environment)
    given = str(kubeconfig) if kubeconfig else settings.kubeconfig
    if given:
        cluster = cluster_of(replace(settings, kubeconfig=given))
        return VisibleNodes(cluster, cluster.all_nodes())
    if settings.gke_api == NO_GKE_API:
        return VisibleNodes(note=f"The cluster is not looked at (EBB_GKE_API=none): {_ONLY_CLAIMS}.")
    try:
        cluster = cluster_of(settings)
        return VisibleNodes(cluster, cluster.all_nodes())
    except (BadSettings, Retryable, Terminal) as failure:
        return VisibleNodes(note=f"The cluster cannot be read ({message_of(failure)}): {_ONLY_CLAIMS}.")


def claimed_targets(state: ClusterState) -> tuple[ReleaseTarget, ...]:
    rows = (ReleaseTarget(claim.node, uid, claim.order_id) for uid, claim in state.claims.items())
    return tuple(sorted(rows, key=lambda target: target.node))


def tainted_targets(nodes: Iterable[Node], state: ClusterState) -> tuple[ReleaseTarget, ...]:
    """Return the nodes that carry our taint, or where that was removed our annotation, without a claim; by name."""
    held = ((node, holding_order(node)) for node in nodes)
    rows = (ReleaseTarget(node.name, node.uid, order) for node, order in held if order is not None)
    return tuple(sorted((row for row in rows if row.uid not in state.claims), key=lambda target: target.node))


def is_free(target: ReleaseTarget, state: ClusterState, cluster: Cluster | None) -> bool:
    """Whether neither that claim nor our taint of that order stands; without a cluster the claim's end is enough."""
    claim = state.claims.get(target.uid)
    if claim is not None and claim.order_id == target.order_id:
        return False
    if cluster is None:
        return True
    try:
        node = cluster.node(target.node)
    except Gone:
        return True
    return node.uid != target.uid or holding_order(node) != target.order_id


def freed_line(target: ReleaseTarget, state: ClusterState, documents: State) -> str:
    """Return the line of a node that is free: how its drain ended, and until when it is left alone."""
    try:
        record = documents.get(drain_key(target.order_id)).value
    except Unreadable:
        record = None
    outcome = record.outcome if record and record.outcome else Outcome.RELEASED.value
    backoff = state.backoffs.get(target.uid)
    alone = f" It is left alone until {moment(backoff.until)}." if backoff else ""
    return f"{target.node}  {outcome}  {sentence(outcome, Outcome)}{alone}"


ALL: Final = "all"
_STAND: Final = "Releases stand for ten minutes: ebb status shows what is still held."
_NOT_PAUSED: Final = (
    "Ebb is not paused by hand: the next pass may drain nodes again. Run ebb pause first to prevent it."
)


def order_release(
    installation: Installation,
    name: str,
    read_nodes: ReadNodes,
    *,
    wait: bool = True,
    timeout: timedelta = timedelta(minutes=5),
) -> int:
    """Release one node, or with `all` every node that is held, and return the exit code."""
    release = Release(installation, wait, timeout)
    try:
        is_free = release.all(read_nodes()) if name == ALL else release.one(node_name(name), read_nodes)
    except KeyboardInterrupt:
        print_sentence(_STAND)
        return INTERRUPTED
    return 0 if is_free else WRONG


@dataclass(frozen=True, slots=True)
class Release:
    """Orders of a person, watched until their nodes are free; methods return whether they are, or were published."""

    installation: Installation
    is_awaited: bool
    timeout: timedelta

    @property
    def state(self) -> ClusterState:
        return read_cluster(self.installation.state)[0]

    def all(self, visible: VisibleNodes) -> bool:
        """Release every node with a claim or our taint, and end the wave."""
        state = self.state
        targets = (*claimed_targets(state), *tainted_targets(visible.nodes, state))
        for note in filter(None, (visible.note, "" if state.paused else _NOT_PAUSED)):
            print_warning(note)
        soft = self._end_wave(visible)
        if not targets and not soft:
            seen = ", and no node carries our taint" if visible.cluster else ""
            print_sentence(f"Nothing to release: no claim stands{seen}.")
        is_free = self._publish(targets, visible)
        if not self.is_awaited:
            return is_free
        is_soft_free = self._wait_for_soft_taints(soft, visible)
        return not self._print_newly_claimed(targets) and is_soft_free and is_free

    def one(self, name: str, read_nodes: ReadNodes) -> bool:
        """Release a node by its claim, else by the taint that the cluster shows."""
        state = self.state
        targets = [target for target in claimed_targets(state) if target.node == name]
        if targets:
            return self._publish(targets, VisibleNodes())
        visible = read_nodes()
        if visible.cluster is None:  # the drainer frees it if it carries our taint
            print_warning(visible.note)
            self._send(OrderKind.RELEASE, name, self._now())
            print_sentence(
                f"{name}  published  No claim stands on it; if it carries our taint, the drainer removes it."
            )
            return True
        node = next((node for node in visible.nodes if node.name == name), None)
        if node is None:
            word = Refusal.NODE_UNKNOWN
            print_sentence(f"{name}: {word.value}. {word.sentence} {word.remedy}")
            return False
        targets = list(tainted_targets((node,), state))
        if not targets:
            print_sentence(f"{name}  free  Neither a claim nor our taint holds it.")
        return self._publish(targets, visible)

    def _now(self) -> datetime:
        return read_cluster(self.installation.state)[2]

    def _send(self, kind: OrderKind, node: str, now: datetime, **changes: Any) -> None:
        self.installation.orders.publish(manual_order(self.installation, kind, node, now, **changes))

    def _publish(self, targets: Sequence[ReleaseTarget], visible: VisibleNodes) -> bool:
        now = self._now()
        for target in targets:
            self._send(OrderKind.RELEASE, target.node, now, node_uid=target.uid)
            if not self.is_awaited:
                print_sentence(f"{target.node}  published  The release of order {target.order_id}.")
        return not self.is_awaited or not targets or self._wait(targets, visible.cluster)

    def _wait(self, targets: Sequence[ReleaseTarget], cluster: Cluster | None) -> bool:
        """Print one line a node as it comes free; False when the patience ended with nodes still held."""
        left = list(targets)

        def look() -> bool | None:
            state = self.state
            for target in [target for target in left if is_free(target, state, cluster)]:
                print_sentence(freed_line(target, state, self.installation.state))
                left.remove(target)
            return None if left else True

        def advise() -> None:
            why = f"{count(len(left), 'node')} not free after {span(SILENT_AFTER)}"
            # the drainer logs a person's release under the order that it ends
            print_what_to_check(self.installation, left[0].order_id, why)

        if poll(self.installation.clock, look, self.timeout, advise):
            return True
        for target in left:
            print_sentence(f"{target.node}  held  Not free after {span(self.timeout)}. {_STAND}")
        return False

    def _end_wave(self, visible: VisibleNodes) -> Mapping[str, str]:
        """Delete the wave's document, order its soft taints and those seen away; return those nodes: names by UID."""
        named = while_stale("the wave", lambda: _delete_wave(self.installation.state)) or ()
        nodes = {node.uid: node.name for node in named} | {node.uid: node.name for node in visible.nodes if node.held}
        now = self._now()
        for part in parts(tuple(nodes.items()), MOST_HELD):
            self._send(OrderKind.LET_GO, "", now, nodes=dict(part))
        if nodes:
            print_sentence(f"The soft taints go from {count(len(nodes), 'node')}.")
        return nodes

    def _wait_for_soft_taints(self, nodes: Mapping[str, str], visible: VisibleNodes) -> bool:
        """Wait until none of these carries a taint of waves, as far as this machine can see."""

        def held() -> list[str]:
            read = visible.cluster.all_nodes() if nodes and visible.cluster else ()
            return [node.name for node in read if node.held and node.uid in nodes]

        if poll(self.installation.clock, lambda: None if held() else True, self.timeout):
            return True
        print_sentence(f"After {span(self.timeout)} {some(held())} still carry the soft taint. {_STAND}")
        return False

    def _print_newly_claimed(self, targets: Sequence[ReleaseTarget]) -> bool:
        """Show which nodes were claimed while the others were being released; whether there are any."""
        known = {target.order_id for target in targets}
        others = [target.node for target in claimed_targets(self.state) if target.order_id not in known]
        if others:
            print_sentence(f"Claimed meanwhile: {some(others)}. Run ebb pause, then ebb release all again.")
        return bool(others)


def _delete_wave(state: State) -> tuple[WaveNode, ...]:
    """Delete the wave's document, and return the nodes that it named. Raises Stale if a pass wrote it first."""
    found = read_lenient(state, WAVE_KEY)
    if found.version is not None:
        state.delete(WAVE_KEY, found.version)
    return found.value.held if found.value else ()
