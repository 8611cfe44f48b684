"""What an installation beside a real control plane remembers in Firestore. Must only read."""

from shared.adapters.firestore import FirestoreState
from shared.core.records.drain_record import DrainPhase, DrainRecord
from shared.core.records.state import ClusterState, PoolMarks
from shared.port_types import CLUSTER_KEY
from tests.real.installation import CLUSTER, Installation


class Memory:
    """The documents of one installation."""

    def __init__(self, ebb: Installation) -> None:
        self._store = FirestoreState("local", ebb.services.database, CLUSTER)

    def state(self) -> ClusterState:
        return self._store.get(CLUSTER_KEY).value or ClusterState()

    def records(self) -> list[DrainRecord]:
        return [found.value for found in self._store.all("drains", DrainRecord).values() if found.value]

    def pools(self) -> list[PoolMarks]:
        return [found.value for found in self._store.all("pools", PoolMarks).values() if found.value]

    def is_answered(self) -> bool:
        """Whether no order is on its way or being judged: each has its claim or was refused."""
        return not self.state().published and all(record.phase is not DrainPhase.ACCEPTED for record in self.records())

    def has_ended_drains(self) -> bool:
        """Whether no claim stands, and every drain that began is settled and leased by nobody.

        An order that is being judged has no claim yet, and is no longer on its way: only its record tells of it.
        """
        ended = all(record.phase is DrainPhase.SETTLED and record.lease is None for record in self.records())
        return ended and not self.state().claims

    def is_at_rest(self) -> bool:
        """Whether every drain has ended and no order is on its way; one that was lost is until it expires."""
        return self.has_ended_drains() and not self.state().published
