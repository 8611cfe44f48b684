"""What a command needs to act on a running Ebb: the state it shares with the functions, and the way to the drainer.

A person's command never touches the cluster: it publishes an order, and reads its result in the state.
"""

import getpass
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import uuid4

from functions.cli.output.terminal import print_point, print_sentence
from shared.adapters.process import SystemClock
from shared.core.cluster.names import NODE_NAME
from shared.core.records.orders import CLAIM_WITHIN, Order, OrderKind
from shared.errors import BadInput
from shared.ports import Clock, OrderBus, State
from shared.settings import read_settings
from shared.store.compare_and_set import read_cluster
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
    """Print where a person looks when the drainer does not answer."""
    last_pass, topic = read_cluster(installation.state)[0].last_pass, installation.topic
    never = "" if last_pass else " No pass was ever completed in this state: it may be another's."
    print_sentence(f"{why}. Check")
    for advice in (
        f"The push subscription of {topic}: does it exist, do its messages wait (num_undelivered_messages)?",
        f'The drainer\'s log: lines with labels.order_id="{order_id}", and message_rejected lines.',
        f"The word other_cluster there means that the drainer's EBB_CLUSTER is not {installation.cluster}.",
        f"EBB_STATE and EBB_FIRESTORE_DATABASE: they must name the state that the drainer writes.{never}",
    ):
        print_point(advice)
