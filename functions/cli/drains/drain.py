"""`ebb drain`: publish one manual order, then print its progress from the drain's record.

The order goes the planner's way, through Pub/Sub; the drainer judges it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer

from functions.cli.drains.client import (
    POLL_SECONDS,
    SILENT_AFTER,
    Installation,
    manual_order,
    node_name,
    print_what_to_check,
)
from functions.cli.drains.outcome import Ending, ending_of, goes_on, unclaimed, unfinished
from functions.cli.drains.progress import Progress, ProgressLine, published_line, waiting_line
from functions.cli.errors import INTERRUPTED
from functions.cli.output.terminal import print_point, print_progress, print_sentence
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Claim
from shared.core.rules.gates import IGNORABLE
from shared.errors import BadInput
from shared.port_types import StoredDocument, drain_key
from shared.store.compare_and_set import read_cluster

PRINT_AT_LEAST: Final = timedelta(seconds=30)
"""A person who waits hears something this often."""
_UNCLAIMED: Final = frozenset({DrainPhase.ACCEPTED, DrainPhase.SETTLED})


@dataclass(frozen=True, slots=True)
class DrainOptions:
    """What a person asked for besides the node."""

    dry_run: bool = False
    ignore: tuple[str, ...] = ()
    timeout: timedelta = timedelta(minutes=30)
    """How long to watch; longer than an order waits for its claim and a drain for its deadline."""


def order_drain(installation: Installation, node: str, options: DrainOptions, *, wait: bool) -> int:
    """Publish the order and return the exit code; with `wait` print the progress until its end.

    Raises:
        BadInput: no node can have this name, or `ignore` has a word that no order may leave out.
        Retryable, Terminal: the state or the topic does not answer.
    """
    order = order_for(installation, node, options)
    installation.orders.publish(order)
    if not wait:
        typer.echo(order.order_id)
        return 0
    print_line(published_line(order.order_id, installation.topic, order.issued_at))
    try:
        ending = DrainWatch(installation, order, options.timeout).follow()
    except KeyboardInterrupt:
        ending = Ending(INTERRUPTED, goes_on(order))
    print_sentence(ending.sentences[0])
    for objection in ending.objections:
        print_point(objection)
    for sentence in ending.sentences[1:]:
        print_sentence(sentence)
    return ending.code


def order_for(installation: Installation, node: str, options: DrainOptions) -> Order:
    """Return the order; its times are the state's, by which the drainer will judge them.

    Raises:
        BadInput: no node can have this name, or `ignore` has a word that no order may leave out.
    """
    unknown = [word for word in options.ignore if word not in IGNORABLE]
    if unknown:
        raise BadInput(f"--ignore: {', '.join(unknown)} is not one of {', '.join(sorted(IGNORABLE))}.")
    name = node_name(node)
    _, _, now = read_cluster(installation.state)
    return manual_order(installation, OrderKind.DRAIN, name, now, dry_run=options.dry_run, ignore=options.ignore)


def print_line(line: ProgressLine) -> None:
    print_progress(line.at, line.word, line.text)


class DrainWatch:
    """One order's progress, printed line by line."""

    def __init__(
        self,
        installation: Installation,
        order: Order,
        timeout: timedelta,
        show: Callable[[ProgressLine], None] = print_line,
    ) -> None:
        self._installation, self._order, self._timeout, self._show = installation, order, timeout, show
        self._progress = Progress()
        self._printed_at = order.issued_at
        self._advised = False

    def follow(self) -> Ending:
        """Look until the drain ends, nobody can take the order any more, or the patience does.

        Raises:
            Retryable, Terminal: the state does not answer.
        """
        while True:
            found = self._installation.state.get(drain_key(self._order.order_id))
            ending = self._report(found.value, found.read_at) if found.value else self._check_delivery(found)
            if ending is not None:
                return ending
            if found.read_at - self._order.issued_at >= self._timeout:
                return unfinished(self._order, self._timeout)
            self._installation.clock.sleep(POLL_SECONDS)

    def _report(self, record: DrainRecord, now: datetime) -> Ending | None:
        claim = self._claim(record)
        new_lines = self._progress.new_lines(record, claim)
        for line in new_lines:
            self._show(line)
        ending = ending_of(record, claim)
        if new_lines:
            self._printed_at = now
        elif ending is None and now - self._printed_at >= PRINT_AT_LEAST:
            self._printed_at = now
            self._show(waiting_line(record, now))
        return ending

    def _claim(self, record: DrainRecord) -> Claim | None:
        if record.phase in _UNCLAIMED:
            return None
        held = read_cluster(self._installation.state)[0].claim_of(record.order.order_id)
        return held[1] if held else None

    def _check_delivery(self, found: StoredDocument[DrainRecord]) -> Ending | None:
        """Nobody has taken the order yet."""
        if found.read_at >= self._order.expires_at:  # the drainer would refuse it now
            return unclaimed(self._order)
        if not self._advised and found.read_at - self._order.issued_at >= SILENT_AFTER:
            self._advised = True
            why = f"Nothing has taken the order for {SILENT_AFTER.total_seconds():.0f} s"
            print_what_to_check(self._installation, self._order.order_id, why)
        return None
