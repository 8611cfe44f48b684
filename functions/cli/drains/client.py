"""What a person's command needs of a running Ebb: the state, and the topic of orders. It never touches the cluster."""

import getpass
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import uuid4

import typer
from msgspec.structs import replace

from functions.cli.output.format import count
from functions.cli.output.terminal import BULLET, print_sentence
from shared.adapters.process import SystemClock
from shared.core.cluster.names import NODE_NAME
from shared.core.records.orders import CLAIM_WITHIN, Order, OrderKind
from shared.core.records.state import ClusterState
from shared.errors import BadInput
from shared.ports import Clock, OrderBus, State
from shared.settings import Settings, read_settings
from shared.store.compare_and_set import change_cluster, read_cluster
from shared.wiring import orders_of, state_of

T = TypeVar("T")
POLL_SECONDS: Final = 2.0
"""Seconds between two looks at the state: each costs one read or two."""
SILENT_AFTER: Final = timedelta(seconds=60)
"""Longer than a cold start and a first redelivery take; then something is probably wrong."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One cluster's Ebb as a person reaches it; `user` stands on the orders as who asked."""

    cluster: str
    topic: str
    state: State
    orders: OrderBus
    clock: Clock
    user: str


def open_installation(environment: Mapping[str, str]) -> Installation:
    """Return the Ebb that the environment names. Raises BadSettings, Terminal."""
    settings = read_settings(environment, "topic")
    orders = orders_of(settings)
    return Installation(settings.cluster, settings.topic, state_of(settings), orders, SystemClock(), user_name())


def open_state(environment: Mapping[str, str]) -> tuple[Settings, State]:
    """Return the settings and the state that the environment names. Raises BadSettings, Terminal."""
    settings = read_settings(environment)
    return settings, state_of(settings)


def user_name() -> str:
    """Return who is logged in here; an order needs no identity, so a machine without one is no fault."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):
        return "unknown"


def manual_order(installation: Installation, kind: OrderKind, node: str, now: datetime, **changes: Any) -> Order:
    """Return a person's order with an id of its own, by which it can be followed."""
    return Order(
        kind=kind,
        order_id=f"manual-{uuid4().hex[:12]}",
        cluster=installation.cluster,
        node=node,
        issued_at=now,
        expires_at=now + CLAIM_WITHIN,
        requested_by=installation.user,
        **changes,
    )


def node_name(text: str) -> str:
    """Return the name of a node as typed. Raises BadInput: no node can have this name."""
    if NODE_NAME.fullmatch(text):
        return text
    raise BadInput(f"NODE: {text!r} cannot be a node's name; write it as kubectl get nodes prints it.")


def poll(
    clock: Clock, look: Callable[[], T | None], timeout: timedelta, advise: Callable[[], None] = lambda: None
) -> T | None:
    """Look until there is an answer or the time is over, and advise once when it has been silent for long."""
    begun, advised = clock.monotonic(), False
    while True:
        found, passed = look(), timedelta(seconds=clock.monotonic() - begun)
        if found is not None or passed >= timeout:
            return found
        if passed >= SILENT_AFTER and not advised:
            advise()
            advised = True
        clock.sleep(POLL_SECONDS)


def print_what_to_check(installation: Installation, order_id: str, why: str) -> None:
    last_pass, topic = read_cluster(installation.state)[0].last_pass, installation.topic
    never = "" if last_pass else " No pass was ever completed in this state: it may be another's."
    print_sentence(f"{why}. Check")
    for advice in (
        f"The push subscription of {topic}: does it exist, do its messages wait (num_undelivered_messages)?",
        f'The drainer\'s log: lines with labels.order_id="{order_id}", and message_rejected lines.',
        f"The word other_cluster there means that the drainer's EBB_CLUSTER is not {installation.cluster}.",
        f"EBB_STATE and EBB_FIRESTORE_DATABASE: they must name the state that the drainer writes.{never}",
    ):
        print_sentence(f"{BULLET}{advice}")


LONGEST_REASON: Final = 200
"""It stands in the cluster's document, which every claim rewrites, and in the log line of every node."""
ALREADY: Final = "It was paused before this, too; --reason changes why."


def print_pause(*, paused: bool, reason: str = "") -> None:
    """Set or clear the flag, and print what holds now. Raises BadInput: the reason is no short line."""
    if len(reason) > LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"--reason: write one line of at most {LONGEST_REASON} characters.")
    settings, state = open_state(os.environ)
    for sentence in set_flag(settings.cluster, state, SystemClock(), paused=paused, reason=reason):
        typer.echo(sentence)


def set_flag(cluster: str, state: State, clock: Clock, *, paused: bool, reason: str) -> tuple[str, ...]:
    """Set or clear the flag, which each claim and step reads (docs/run.md); a reason stands until another is given."""
    was_paused = False

    def change(before: ClusterState, now: datetime) -> ClusterState:
        nonlocal was_paused
        del now
        was_paused = before.paused
        why = reason or (before.pause_reason if before.paused else "")
        return replace(before, paused=paused, pause_reason=why if paused else "")

    found = sentences(cluster, change_cluster(state, clock, change))
    return (*found, ALREADY) if paused and was_paused else found


def sentences(cluster: str, state: ClusterState) -> tuple[str, ...]:
    drains = count(len(state.claims), "drain")
    if state.paused:
        why = f" ({state.pause_reason})" if state.pause_reason else ""
        return (
            f"{cluster} is paused{why}.",
            f"No drain starts; {drains} in progress: nodes are returned at the next step. Repairs and marks go on.",
            "Run ebb resume to end it.",
        )
    return (
        f"{cluster} is not paused by hand; {drains} in progress.",
        "Drains start again with the next pass, unless the policy has paused: true.",
    )
