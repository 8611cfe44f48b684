"""`ebb release`: publish release orders, and see in the state (and the cluster) that the nodes are free.

A release is never refused; the drainer carries it out. Must not touch the cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from functions.cli.drains.client import (
    INTERRUPTED,
    LOOK_EVERY,
    SILENT_AFTER,
    Office,
    manual_order,
    node_name,
    what_to_check,
)
from functions.cli.drains.lines import point, say, warn
from functions.cli.drains.outcome import REFUSAL_REMEDIES
from functions.cli.drains.release_targets import Look, Sight, Target, claimed, freed, tainted, told
from functions.cli.errors import WRONG
from functions.cli.format import count, some, span
from shared.core.reasons import Refusal
from shared.core.records.orders import OrderKind
from shared.core.records.state import ClusterState
from shared.store.compare_and_set import read_cluster

ALL: Final = "all"
_NOT_PAUSED: Final = (
    "Ebb is not paused by hand: the next pass may drain nodes again. Run ebb pause first to prevent it."
)


@dataclass(frozen=True, slots=True)
class Patience:
    """Whether and how long a person waits."""

    wait: bool = True
    timeout: timedelta = timedelta(minutes=5)


def release(office: Office, name: str, look: Look, patience: Patience) -> int:
    """Release one node, or with `all` every node that is held, and return the exit code.

    Raises:
        BadInput: no node bears such a name.
        Retryable, Terminal: the state, the topic or the cluster that was asked for does not answer.
    """
    return _all(office, look(), patience) if name == ALL else _one(office, node_name(name), look, patience)


def _all(office: Office, sight: Sight, patience: Patience) -> int:
    state, _, _ = read_cluster(office.state)
    targets = (*claimed(state), *tainted(sight.nodes, state))
    for note in (sight.note, "" if state.paused else _NOT_PAUSED):
        if note:
            warn(note)
    if not targets:
        say("Nothing to release: no claim stands" + (", and no node carries our taint." if sight.cluster else "."))
        return 0
    code = _carry_out(office, targets, sight, patience)
    return _newcomers(office, targets) or code if patience.wait else code


def _newcomers(office: Office, targets: Sequence[Target]) -> int:
    """Say which nodes were claimed while the others were being released."""
    known = {target.order_id for target in targets}
    others = [each.node for each in claimed(read_cluster(office.state)[0]) if each.order_id not in known]
    if not others:
        return 0
    say(f"Claimed meanwhile: {some(others)}. Run ebb pause, then ebb release all again.")
    return WRONG


def _one(office: Office, name: str, look: Look, patience: Patience) -> int:
    state, _, _ = read_cluster(office.state)
    held = [target for target in claimed(state) if target.node == name]
    if held:
        return _carry_out(office, held, Sight(), patience)
    sight = look()
    if sight.cluster is None:
        return _unseen(office, name, sight)
    node = next((each for each in sight.nodes if each.name == name), None)
    if node is None:
        word = Refusal.NODE_UNKNOWN
        say(f"{name}: {word.value}. {word.sentence} {REFUSAL_REMEDIES[word.value]}")
        return WRONG
    held = list(tainted((node,), state))
    if not held:
        say(f"{name}  free  Neither a claim nor our taint holds it.")
        return 0
    return _carry_out(office, held, sight, patience)


def _unseen(office: Office, name: str, sight: Sight) -> int:
    """Publish for a node of which nothing is known here: the drainer frees it if it carries our taint."""
    warn(sight.note)
    Releasing(office, (Target(name),), sight).publish()
    say(f"{name}  published  No claim stands on it; if it carries our taint, the drainer removes it.")
    return 0


def _carry_out(office: Office, targets: Sequence[Target], sight: Sight, patience: Patience) -> int:
    releasing = Releasing(office, targets, sight)
    releasing.publish()
    if not patience.wait:
        for target in targets:
            say(f"{target.node}  published  The release of order {target.order_id}.")
        return 0
    try:
        return 0 if releasing.wait(patience.timeout) else WRONG
    except KeyboardInterrupt:
        say("The releases stand: ebb status shows what is still held.")
        return INTERRUPTED


class Releasing:
    """Release orders that were published, watched until their nodes are free."""

    def __init__(self, office: Office, targets: Sequence[Target], sight: Sight) -> None:
        self._office, self._cluster = office, sight.cluster
        self._left = list(targets)
        self._advised = False

    def publish(self) -> None:
        """Publish one order a node. Raises Retryable, Terminal."""
        _, _, now = read_cluster(self._office.state)
        for target in self._left:
            self._office.orders.publish(
                manual_order(self._office, OrderKind.RELEASE, target.node, now, node_uid=target.uid)
            )

    def wait(self, timeout: timedelta) -> bool:
        """Print one line a node as it comes free; False when the patience ended with nodes still held.

        Raises:
            Retryable, Terminal: the state or the cluster does not answer.
        """
        begun = self._office.clock.monotonic()
        while True:
            state, _, _ = read_cluster(self._office.state)
            self._tell_free(state)
            passed = timedelta(seconds=self._office.clock.monotonic() - begun)
            if not self._left or passed >= timeout:
                break
            self._advise(state, passed)
            self._office.clock.sleep(LOOK_EVERY)
        for target in self._left:
            say(f"{target.node}  held  Not free after {span(timeout)}; the release stands, ebb status shows the drain.")
        return not self._left

    def _tell_free(self, state: ClusterState) -> None:
        for target in [each for each in self._left if freed(each, state, self._cluster)]:
            say(told(target, state, self._office.state))
            self._left.remove(target)

    def _advise(self, state: ClusterState, passed: timedelta) -> None:
        if self._advised or passed < SILENT_AFTER:
            return
        self._advised = True
        say(f"{count(len(self._left), 'node')} not free after {span(SILENT_AFTER)}. Check")
        held_by = self._left[0].order_id  # the drainer logs a person's release under the order that it ends
        for sentence in what_to_check(self._office, held_by, state.last_pass):
            point(sentence)
