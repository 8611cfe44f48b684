"""What Ebb remembers between two calls (docs/decisions/claims.md), but for what one drain remembers: `drain_record`.

The cluster's document carries all that a claim must agree with, so that one compare-and-set decides it.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from shared.core.policy import DrainSettings
from shared.core.reasons import DrainReason
from shared.core.records.orders import Origin

MICRO: Final = 10**6  # Micro-dollars of a dollar: amounts are integers.
INTERVAL: Final = timedelta(minutes=5)  # Between passes, unless EBB_INTERVAL_SECONDS sets another.
_SILENCE: Final = timedelta(minutes=15)  # Marks survive a silence of the planner of so long at least.
_MISSED_PASSES: Final = 3
_HALF_DAY: Final = timedelta(hours=12)


def silence(interval: timedelta) -> timedelta:
    """Return after how long without a pass nobody knows any more what happened; `interval` lies between two passes."""
    return max(_MISSED_PASSES * interval, _SILENCE)


class Lease(msgspec.Struct, frozen=True):
    """Who may act, and until when."""

    owner: str
    until: datetime

    def is_held(self, now: datetime) -> bool:
        return now < self.until


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One node taken out of the budgets, from the grant until it was seen gone or free of our taint."""

    order_id: str
    node: str
    pool: str
    zone: str
    since: datetime
    reason: DrainReason
    origin: Origin
    generation: int = 0
    settings: DrainSettings = DrainSettings()
    policy_hash: str = ""
    picture_at: datetime | None = None  # Of the snapshot that proved its place with others; None: by itself.
    moving_pods: dict[str, int] = msgspec.field(name="turns", default_factory=dict)
    """How many pods it moves of each workload without a PDB, by the workload's mark; empty once drained."""
    drained: bool | msgspec.UnsetType = msgspec.UNSET  # Its pods have moved. Written only then.
    replaced: datetime | msgspec.UnsetType = msgspec.UNSET  # When what it moved ran again (`drain.budgetUntil`).
    cost_per_hour: int = 0  # What the bill falls by without the node, in micro-dollars: it is asked when that is gone.
    covered_per_hour: int | msgspec.UnsetType = msgspec.UNSET
    """What it costs at list prices besides: commitments pay that, with the node or without. Only written if any."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """An order on its way to the drainer, as the claim that it asks for, `since` when it was issued."""

    claim: Claim
    expires_at: datetime
    pods: dict[str, int] = {}  # As in `Start`.


class Start(msgspec.Struct, frozen=True, omit_defaults=True):
    """One drain that started, for the rate limits."""

    at: datetime
    pool: str
    pods: dict[str, int] = {}  # How many it moves, by namespace; empty without evictionsPerNamespace.


class Backoff(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node that is left alone until `until`; `delay` doubles with each failure in a row."""

    node: str
    until: datetime
    delay: timedelta
    why: str
    gave_way_for: tuple[str, ...] = ()  # Marks of the pods for which the node was returned (`draining.replacements`).

    @property
    def since(self) -> datetime:
        return self.until - self.delay


class Breaker(msgspec.Struct, frozen=True):
    """No new drain in a pool until then."""

    until: datetime
    why: str


class Reclaimed(msgspec.Struct, frozen=True):
    """Nodes of one pool that drains removed within an hour and that have not come back."""

    # Their cost is in micro-dollars.

    pool: str
    hour: datetime
    nodes: int
    cost_per_hour: int
    covered_per_hour: int = 0  # What they cost at list prices besides: commitments pay that.


class Removed(msgspec.Struct, frozen=True, omit_defaults=True):
    """So many nodes, and what the bill is lower by without them, in micro-dollars per hour."""

    nodes: int = 0
    cost_per_hour: int = 0

    def plus(self, other: "Removed") -> "Removed":
        return Removed(self.nodes + other.nodes, self.cost_per_hour + other.cost_per_hour)

    def at_most(self, nodes: int) -> "Removed":
        """Return so many of them at most, at their average cost."""
        return self if self.nodes <= nodes else Removed(nodes, self.cost_per_hour * nodes // self.nodes)


class KnownDemand(msgspec.Struct, frozen=True):
    """CPU that pods ask for, in millicores: now, and the most since half a day began and in the one before."""

    cpu: int
    since: datetime
    most: int
    before: int = 0

    @property
    def fallen(self) -> int:
        """By how much it is below its peak of the last 12 to 24 hours."""
        return max(self.most, self.before) - self.cpu

    def followed_by(self, cpu: int, now: datetime) -> "KnownDemand":
        ago = now - self.since
        if ago < _HALF_DAY:
            return KnownDemand(cpu, self.since, max(self.most, cpu), self.before)
        return KnownDemand(cpu, now, cpu, self.most if ago < 2 * _HALF_DAY else 0)


class Advised(msgspec.Struct, frozen=True):
    policy_hash: str
    at: datetime


_ADVISE_AGAIN_AFTER: Final = timedelta(days=1)


def is_advice_due(last: Advised | None, policy_hash: str, now: datetime) -> bool:
    """Whether it is time to warn again: of another policy at once, of the same one once a day."""
    return last is None or last.policy_hash != policy_hash or now - last.at >= _ADVISE_AGAIN_AFTER


class WaveNode(msgspec.Struct, frozen=True):
    uid: str
    name: str


class Wave(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/waves/current`: which nodes are held softly, and until when (`planning.waves`)."""

    id: str
    nodes: tuple[WaveNode, ...]  # The wave's set, in the order in which they go; none: only costly nodes are held.
    policy_hash: str
    began: datetime
    deadline: datetime
    costly: tuple[WaveNode, ...] = ()  # Those that pods avoid for their price (`waves.costly_nodes`).

    @property
    def held(self) -> tuple[WaveNode, ...]:
        return tuple(dict.fromkeys((*self.nodes, *self.costly)))


class ClusterState(msgspec.Struct, frozen=True, kw_only=True):
    claims: dict[str, Claim] = {}  # By node UID.
    published: dict[str, Published] = {}  # Orders that nobody has claimed yet, by node UID (`published`).
    last_scale_down: datetime | None = None
    starts: tuple[Start, ...] = ()
    backoffs: dict[str, Backoff] = {}  # By node UID.
    breakers: dict[str, Breaker] = {}  # By pool.
    reclaimed: tuple[Reclaimed, ...] = ()  # What stays saved, oldest first.
    removed: dict[str, Removed] = {}  # By pool, all that drains removed: the ledger counts the difference of passes.
    paused: bool = False
    pause_reason: str = ""  # What the person who paused it wrote, for the explanation.
    planner: Lease | None = None
    finished: tuple[str, ...] = ()  # The ids of the last runs that ended well, oldest first.
    last_pass: datetime | None = None  # When the last pass that published all its orders had read the cluster.
    version: str = ""  # Ebb's own that completed it; empty in documents of older ones.
    advised: Advised | None = None
    demand: KnownDemand | None = None  # What the last pass saw; None where no pass was ever completed.

    def claim_of(self, order_id: str) -> tuple[str, Claim] | None:
        return next(((uid, claim) for uid, claim in self.claims.items() if claim.order_id == order_id), None)


class Mark(msgspec.Struct, frozen=True):
    name: str
    since: datetime


class PoolMarks(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/pools/{pool}`: marks by node UID."""

    marks: dict[str, Mark] = {}
