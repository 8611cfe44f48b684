"""`ebb drain`: publish one manual order, which the drainer judges; print its progress from the drain's record."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer

from functions.cli.drains.client import SILENT_AFTER, Installation, manual_order, node_name, poll, print_what_to_check
from functions.cli.drains.outcome import (
    WAITING,
    Ending,
    ending_of,
    ending_of_unclaimed,
    ending_of_unfinished,
    goes_on,
    progress_lines,
    waiting_line,
)
from functions.cli.errors import INTERRUPTED
from functions.cli.output.format import moment
from functions.cli.output.terminal import print_progress, print_sentence
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Claim
from shared.core.rules.gates import IGNORABLE
from shared.errors import BadInput
from shared.ports import drain_key
from shared.store.compare_and_set import read_cluster

PRINT_AT_LEAST: Final = timedelta(seconds=30)
"""A person who waits hears something this often."""
_UNCLAIMED: Final = frozenset({DrainPhase.ACCEPTED, DrainPhase.SETTLED})


@dataclass(frozen=True, slots=True)
class DrainOptions:
    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    timeout: timedelta = timedelta(minutes=30)
    """How long to watch; longer than an order waits for its claim and a drain for its deadline."""


def order_drain(installation: Installation, node: str, options: DrainOptions, *, wait: bool) -> int:
    """Publish the order and return the exit code; with `wait` print the progress to the end. Raises as `order_for`."""
    order = order_for(installation, node, options)
    installation.orders.publish(order)
    if not wait:
        typer.echo(order.order_id)
        return 0
    text = f"order {order.order_id} to {installation.topic}, {moment(order.issued_at)}"
    print_progress(order.issued_at, "published", text)
    try:
        ending = DrainWatch(installation, order).follow(options.timeout)
    except KeyboardInterrupt:
        ending = Ending(INTERRUPTED, (goes_on(order),))
    for sentence in ending.sentences:
        print_sentence(sentence)
    return ending.code


def order_for(installation: Installation, node: str, options: DrainOptions) -> Order:
    """Return the order, by the state's clock as the drainer's. Raises BadInput for a name or a word that cannot be."""
    unknown = [word for word in options.ignore if word not in IGNORABLE]
    if unknown:
        raise BadInput(f"--ignore: {', '.join(unknown)} is not one of {', '.join(sorted(IGNORABLE))}.")
    name = node_name(node)
    _, _, now = read_cluster(installation.state)
    return manual_order(installation, OrderKind.DRAIN, name, now, dry_run=options.dry_run, ignore=options.ignore)


class DrainWatch:
    def __init__(self, installation: Installation, order: Order) -> None:
        self._installation, self._order = installation, order
        self._shown: set[tuple[str, str]] = set()
        self._printed_at = order.issued_at

    def follow(self, timeout: timedelta) -> Ending:
        """Look until the drain ends, nobody can take the order any more, or the patience does."""
        found = poll(self._installation.clock, self._look, timeout, self._advise)
        return found or ending_of_unfinished(self._order, timeout)

    def _look(self) -> Ending | None:
        found = self._installation.state.get(drain_key(self._order.order_id))
        if found.value:
            return self._report(found.value, found.read_at)
        return ending_of_unclaimed(self._order) if found.read_at >= self._order.expires_at else None

    def _report(self, record: DrainRecord, now: datetime) -> Ending | None:
        claim = self._claim(record)
        ending = ending_of(record, claim)
        lines = [line for line in progress_lines(record, claim) if (line.word, line.text) not in self._shown]
        if not lines and ending is None and now - self._printed_at >= PRINT_AT_LEAST:
            lines = [waiting_line(record, now)]
        for line in lines:
            print_progress(*line)
            self._printed_at = now
        self._shown |= {(line.word, line.text) for line in lines if line.word != WAITING}
        return ending

    def _claim(self, record: DrainRecord) -> Claim | None:
        if record.phase in _UNCLAIMED:
            return None
        held = read_cluster(self._installation.state)[0].claim_of(record.order.order_id)
        return held[1] if held else None

    def _advise(self) -> None:
        if self._installation.state.get(drain_key(self._order.order_id)).value is None:
            why = f"Nothing has taken the order for {SILENT_AFTER.total_seconds():.0f} s"
            print_what_to_check(self._installation, self._order.order_id, why)
