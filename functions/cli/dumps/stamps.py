"""The times that an item of a dump tells: a dump is as old as the newest of them. Must not read anything else."""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from shared.adapters.kubernetes import wire


class StampedCondition(wire.Partial, frozen=True):
    last_transition_time: wire.Time | None = None
    last_heartbeat_time: wire.Time | None = None


class StampedField(wire.Partial, frozen=True):
    time: wire.Time | None = None


class StampedMeta(wire.Partial, frozen=True):
    name: str = ""
    creation_timestamp: wire.Time | None = None
    managed_fields: list[StampedField] | None = None


class StampedStatus(wire.Partial, frozen=True):
    start_time: wire.Time | None = None
    conditions: list[StampedCondition] | None = None


class Stamped(wire.Partial, frozen=True):
    """An item's times that lie in the past when it is printed (a deletionTimestamp lies ahead)."""

    metadata: StampedMeta = StampedMeta()
    status: StampedStatus = StampedStatus()

    def times(self) -> Iterator[datetime]:
        conditions = self.status.conditions or ()
        given = chain(
            (self.metadata.creation_timestamp, self.status.start_time),
            (each.time for each in self.metadata.managed_fields or ()),
            (each.last_transition_time for each in conditions),
            (each.last_heartbeat_time for each in conditions),
        )
        return (each for each in given if each is not None)
