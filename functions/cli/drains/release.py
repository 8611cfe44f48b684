"""`ebb release`: publishes release orders, and waits until claims and taints of the named nodes are gone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from functions.cli.drains.client import (
    POLL_SECONDS,
    SILENT_AFTER,
    Installation,
    manual_order,
    node_name,
    print_what_to_check,
)
from functions.cli.drains.outcome import sentence
from functions.cli.errors import INTERRUPTED, WRONG, message_of
from functions.cli.output.format import count, moment, some, span
from functions.cli.output.terminal import print_sentence, print_warning
from shared.core.cluster.node import Node, holding_order
from shared.core.reasons import Outcome, Refusal
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import MOST_HELD, OrderKind, parts
from shared.core.records.state import ClusterState, WaveNode
from shared.errors import BadSettings, Gone, Retryable, Terminal, Unreadable
from shared.port_types import WAVE_KEY, drain_key
from shared.ports import Cluster, State
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
    """Read the nodes by the kubeconfig that was given, else by the GKE API, else not at all.

    Raises:
        BadSettings, Retryable, Terminal: a kubeconfig was given, and the cluster cannot be read with it.
    """
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
    """Return the nodes that the state holds a claim for, by name."""
    rows = (ReleaseTarget(claim.node, uid, claim.order_id) for uid, claim in state.claims.items())
    return tuple(sorted(rows, key=lambda target: target.node))


def tainted_targets(nodes: Iterable[Node], state: ClusterState) -> tuple[ReleaseTarget, ...]:
    """Return the nodes that carry our taint, or where that was removed our annotation, without a claim; by name."""
    held = ((node, holding_order(node)) for node in nodes)
    rows = (ReleaseTarget(node.name, node.uid, order) for node, order in held if order is not None)
    return tuple(sorted((row for row in rows if row.uid not in state.claims), key=lambda target: target.node))


def is_free(target: ReleaseTarget, state: ClusterState, cluster: Cluster | None) -> bool:
    """Whether neither that claim nor our taint of that order stands; without a cluster the claim's end stands for both.

    Raises:
        Retryable, Terminal: the cluster does not answer.
    """
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


def _record(documents: State, order_id: str) -> DrainRecord | None:
    """Return the drain's record; None for one that this version cannot read."""
    try:
        return documents.get(drain_key(order_id)).value
    except Unreadable:
        return None


def freed_line(target: ReleaseTarget, state: ClusterState, documents: State) -> str:
    """Return the line of a node that is free: how its drain ended, and until when it is left alone."""
    record = _record(documents, target.order_id)
    outcome = record.outcome if record and record.outcome else Outcome.RELEASED.value
    backoff = state.backoffs.get(target.uid)
    alone = f" It is left alone until {moment(backoff.until)}." if backoff else ""
    return f"{target.node}  {outcome}  {sentence(outcome, Outcome)}{alone}"


ALL: Final = "all"
_STAND: Final = "The releases stand for ten minutes: ebb status shows what is still held."
_NOT_PAUSED: Final = (
    "Ebb is not paused by hand: the next pass may drain nodes again. Run ebb pause first to prevent it."
)


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """Whether and how long a person waits."""

    wait: bool = True
    timeout: timedelta = timedelta(minutes=5)


def order_release(installation: Installation, name: str, read_nodes: ReadNodes, options: ReleaseOptions) -> int:
    """Release one node, or with `all` every node that is held, and return the exit code.

    Raises:
        BadInput: no node can have this name.
        Retryable, Terminal: the state, the topic or the cluster that was asked for does not answer.
    """
    return (
        _release_all(installation, read_nodes(), options)
        if name == ALL
        else _release_one(installation, node_name(name), read_nodes, options)
    )


def _release_all(installation: Installation, visible: VisibleNodes, options: ReleaseOptions) -> int:
    state, _, _ = read_cluster(installation.state)
    targets = (*claimed_targets(state), *tainted_targets(visible.nodes, state))
    for note in (visible.note, "" if state.paused else _NOT_PAUSED):
        if note:
            print_warning(note)
    soft = _end_wave(installation, visible)
    if not targets and not soft:
        print_sentence(
            "Nothing to release: no claim stands" + (", and no node carries our taint." if visible.cluster else ".")
        )
    code = _publish_and_wait(installation, targets, visible, options) if targets else 0
    if not options.wait or code == INTERRUPTED:
        return code
    softly = _wait_for_soft_taints(installation, soft, visible, options.timeout)
    return softly if softly == INTERRUPTED else _print_newly_claimed(installation, targets) or softly or code


def _end_wave(installation: Installation, visible: VisibleNodes) -> Mapping[str, str]:
    """Delete the wave's document, and order the removal of its soft taints and of all that the cluster shows.

    Returns the nodes that it was ordered for: names by UID.
    """
    named = while_stale("the wave", lambda: _delete_wave(installation.state)) or ()
    nodes = {each.uid: each.name for each in named} | {each.uid: each.name for each in visible.nodes if each.held}
    now = read_cluster(installation.state)[2]
    for part in parts(tuple(nodes.items()), MOST_HELD):
        installation.orders.publish(manual_order(installation, OrderKind.LET_GO, "", now, nodes=dict(part)))
    if nodes:
        print_sentence(f"The soft taints of a wave go from {count(len(nodes), 'node')}.")
    return nodes


def _wait_for_soft_taints(
    installation: Installation, nodes: Mapping[str, str], visible: VisibleNodes, timeout: timedelta
) -> int:
    """Wait until none of these carries a taint of waves, as far as this machine can see, and return the exit code."""
    over = installation.clock.monotonic() + timeout.total_seconds()
    try:
        while left := _still_held(visible, nodes):
            if installation.clock.monotonic() >= over:
                print_sentence(f"After {span(timeout)} {some(left)} still carry the soft taint. {_STAND}")
                return WRONG
            installation.clock.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        print_sentence(_STAND)
        return INTERRUPTED
    return 0


def _still_held(visible: VisibleNodes, nodes: Mapping[str, str]) -> Sequence[str]:
    read = visible.cluster.all_nodes() if nodes and visible.cluster else ()
    return [each.name for each in read if each.held and each.uid in nodes]


def _delete_wave(state: State) -> tuple[WaveNode, ...]:
    """Delete the wave's document, and return the nodes that it named. Raises Stale if a pass wrote it first."""
    found = read_lenient(state, WAVE_KEY)
    if found.version is not None:
        state.delete(WAVE_KEY, found.version)
    return found.value.nodes if found.value else ()


def _print_newly_claimed(installation: Installation, targets: Sequence[ReleaseTarget]) -> int:
    """Show which nodes were claimed while the others were being released."""
    known = {target.order_id for target in targets}
    others = [each.node for each in claimed_targets(read_cluster(installation.state)[0]) if each.order_id not in known]
    if not others:
        return 0
    print_sentence(f"Claimed meanwhile: {some(others)}. Run ebb pause, then ebb release all again.")
    return WRONG


def _release_one(installation: Installation, name: str, read_nodes: ReadNodes, options: ReleaseOptions) -> int:
    state, _, _ = read_cluster(installation.state)
    held = [target for target in claimed_targets(state) if target.node == name]
    if held:
        return _publish_and_wait(installation, held, VisibleNodes(), options)
    visible = read_nodes()
    if visible.cluster is None:
        return _release_unseen(installation, name, visible)
    node = next((each for each in visible.nodes if each.name == name), None)
    if node is None:
        word = Refusal.NODE_UNKNOWN
        print_sentence(f"{name}: {word.value}. {word.sentence} {word.remedy}")
        return WRONG
    held = list(tainted_targets((node,), state))
    if not held:
        print_sentence(f"{name}  free  Neither a claim nor our taint holds it.")
        return 0
    return _publish_and_wait(installation, held, visible, options)


def _release_unseen(installation: Installation, name: str, visible: VisibleNodes) -> int:
    """Publish for a node of which nothing is known here: the drainer frees it if it carries our taint."""
    print_warning(visible.note)
    ReleaseWatch(installation, (ReleaseTarget(name),), visible).publish()
    print_sentence(f"{name}  published  No claim stands on it; if it carries our taint, the drainer removes it.")
    return 0


def _publish_and_wait(
    installation: Installation, targets: Sequence[ReleaseTarget], visible: VisibleNodes, options: ReleaseOptions
) -> int:
    watch = ReleaseWatch(installation, targets, visible)
    watch.publish()
    if not options.wait:
        for target in targets:
            print_sentence(f"{target.node}  published  The release of order {target.order_id}.")
        return 0
    try:
        return 0 if watch.wait(options.timeout) else WRONG
    except KeyboardInterrupt:
        print_sentence(_STAND)
        return INTERRUPTED


class ReleaseWatch:
    """Release orders that were published, watched until their nodes are free."""

    def __init__(self, installation: Installation, targets: Sequence[ReleaseTarget], visible: VisibleNodes) -> None:
        self._installation, self._cluster = installation, visible.cluster
        self._left = list(targets)
        self._advised = False

    def publish(self) -> None:
        """Publish one order a node. Raises Retryable, Terminal."""
        _, _, now = read_cluster(self._installation.state)
        for target in self._left:
            self._installation.orders.publish(
                manual_order(self._installation, OrderKind.RELEASE, target.node, now, node_uid=target.uid)
            )

    def wait(self, timeout: timedelta) -> bool:
        """Print one line a node as it comes free; False when the patience ended with nodes still held.

        Raises:
            Retryable, Terminal: the state or the cluster does not answer.
        """
        begun = self._installation.clock.monotonic()
        while True:
            state, _, _ = read_cluster(self._installation.state)
            self._print_freed(state)
            passed = timedelta(seconds=self._installation.clock.monotonic() - begun)
            if not self._left or passed >= timeout:
                break
            self._advise(passed)
            self._installation.clock.sleep(POLL_SECONDS)
        for target in self._left:
            print_sentence(
                f"{target.node}  held  Not free after {span(timeout)}; the release stands for ten minutes, ebb status "
                "shows the drain."
            )
        return not self._left

    def _print_freed(self, state: ClusterState) -> None:
        for target in [each for each in self._left if is_free(each, state, self._cluster)]:
            print_sentence(freed_line(target, state, self._installation.state))
            self._left.remove(target)

    def _advise(self, passed: timedelta) -> None:
        if not self._advised and passed >= SILENT_AFTER:
            self._advised = True
            held_by = self._left[0].order_id  # the drainer logs a person's release under the order that it ends
            why = f"{count(len(self._left), 'node')} not free after {span(SILENT_AFTER)}"
            print_what_to_check(self._installation, held_by, why)
