"""`ebb drain`: publish one manual order, then tell from the drain's record what becomes of it.

The order goes the planner's way, through Pub/Sub; the drainer judges it. Must not hold rules, and must not touch
the cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer

from functions.cli.drains.client import (
    INTERRUPTED,
    LOOK_EVERY,
    SILENT_AFTER,
    Office,
    manual_order,
    node_name,
    what_to_check,
)
from functions.cli.drains.lines import Line, point, say, show
from functions.cli.drains.outcome import Ending, ending_of, goes_on, unclaimed, unfinished
from functions.cli.drains.progress import Tale, published, waiting
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Claim, DrainPhase, DrainRecord
from shared.core.rules.gates import IGNORABLE
from shared.errors import BadInput
from shared.ports import StoredDocument, drain_key
from shared.store.compare_and_set import read_cluster

TELL_AT_LEAST: Final = timedelta(seconds=30)
"""A person who waits hears something this often."""
_UNCLAIMED: Final = frozenset({DrainPhase.ACCEPTED, DrainPhase.SETTLED})


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for beside the node."""

    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    timeout: timedelta = timedelta(minutes=30)
    """How long to watch; longer than an order waits for its claim and a drain for its deadline."""


def drain(office: Office, node: str, wish: Wish, *, wait: bool) -> int:
    """Publish the order and return the exit code; with `wait` tell the progress until its end.

    Raises:
        BadInput: no node bears such a name, or `ignore` has a word that no order may leave out.
        Retryable, Terminal: the state or the topic does not answer.
    """
    order = order_for(office, node, wish)
    office.orders.publish(order)
    if not wait:
        typer.echo(order.order_id)
        return 0
    show(published(order.order_id, office.topic, order.issued_at))
    try:
        ending = Watch(office, order, wish.timeout).follow()
    except KeyboardInterrupt:
        ending = Ending(INTERRUPTED, goes_on(order))
    say(ending.sentences[0])
    for objection in ending.objections:
        point(objection)
    for sentence in ending.sentences[1:]:
        say(sentence)
    return ending.code


def order_for(office: Office, node: str, wish: Wish) -> Order:
    """Return the order; its times are the state's, by which the drainer will judge them.

    Raises:
        BadInput: no node bears such a name, or `ignore` has a word that no order may leave out.
    """
    unknown = [word for word in wish.ignore if word not in IGNORABLE]
    if unknown:
        raise BadInput(f"--ignore: {', '.join(unknown)} is not one of {', '.join(sorted(IGNORABLE))}.")
    name = node_name(node)
    _, _, now = read_cluster(office.state)
    return manual_order(office, OrderKind.DRAIN, name, now, dry_run=wish.dry_run, ignore=wish.ignore)


class Watch:
    """One order's progress, told line by line."""

    def __init__(self, office: Office, order: Order, timeout: timedelta, tell: Callable[[Line], None] = show) -> None:
        self._office, self._order, self._timeout, self._tell = office, order, timeout, tell
        self._tale = Tale()
        self._told_at = order.issued_at
        self._advised = False

    def follow(self) -> Ending:
        """Look until the drain ends, nobody can take the order any more, or the patience does.

        Raises:
            Retryable, Terminal: the state does not answer.
        """
        while True:
            found = self._office.state.get(drain_key(self._order.order_id))
            ending = self._seen(found.value, found.read_at) if found.value else self._unseen(found)
            if ending is not None:
                return ending
            if found.read_at - self._order.issued_at >= self._timeout:
                return unfinished(self._order, self._timeout)
            self._office.clock.sleep(LOOK_EVERY)

    def _seen(self, record: DrainRecord, now: datetime) -> Ending | None:
        claim = self._claim(record)
        news = self._tale.news(record, claim)
        for line in news:
            self._tell(line)
        ending = ending_of(record, claim)
        if news:
            self._told_at = now
        elif ending is None and now - self._told_at >= TELL_AT_LEAST:
            self._told_at = now
            self._tell(waiting(record, now))
        return ending

    def _claim(self, record: DrainRecord) -> Claim | None:
        if record.phase in _UNCLAIMED:
            return None
        held = read_cluster(self._office.state)[0].claim_of(record.order.order_id)
        return held[1] if held else None

    def _unseen(self, found: StoredDocument[DrainRecord]) -> Ending | None:
        """Nobody has taken the order yet."""
        if found.read_at >= self._order.expires_at:  # whoever takes it now refuses it
            return unclaimed(self._order)
        if not self._advised and found.read_at - self._order.issued_at >= SILENT_AFTER:
            self._advised = True
            self._advise()
        return None

    def _advise(self) -> None:
        say(f"Nothing has taken the order for {SILENT_AFTER.total_seconds():.0f} s. Check")
        last_pass = read_cluster(self._office.state)[0].last_pass
        for sentence in what_to_check(self._office, self._order.order_id, last_pass):
            point(sentence)
