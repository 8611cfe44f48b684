"""Readings that the orders of one instance share, and calls that run side by side."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, Generic, Protocol, TypeVar

from shared.core.cluster.autoscaling import ComputeClasses
from shared.core.cluster.buffers import Buffers
from shared.core.cluster.disruption_budget import PodDisruptionBudget
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import Workload
from shared.core.draining.evicting import WORKLOADS_STAND_FOR
from shared.core.records.state import ClusterState
from shared.errors import Retryable

A = TypeVar("A")
B = TypeVar("B")


class RunTogether(Protocol):
    """Carries out calls that do not depend on each other."""

    def __call__(self, act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
        """Return `act` of each item, in the items' order; at most `most` calls are under way at once."""


def in_threads(act: Callable[[A], B], items: Sequence[A], most: int) -> list[B]:
    """Carry the calls out in threads; the first failure is raised once all have ended."""
    with ThreadPoolExecutor(max_workers=most) as pool:
        return list(pool.map(act, items))


T = TypeVar("T")
Sleep = Callable[[float], None]
WAIT_SECONDS: Final = 30.0
"""How long a call waits for another one: a picture of 5,000 nodes takes some seconds, and a message can come again."""
PAUSE_SECONDS: Final = 0.1


class OneAtATime:
    """One call at a time does this; the others wait for it. `what` is named when a wait has been too long."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = Lock()

    @contextmanager
    def held(self, sleep: Sleep) -> Iterator[None]:
        """Hold it. Raises Retryable when others have held it for too long."""
        for _ in range(round(WAIT_SECONDS / PAUSE_SECONDS)):
            if self._lock.acquire(blocking=False):
                try:
                    yield
                finally:
                    self._lock.release()
                return
            sleep(PAUSE_SECONDS)
        raise Retryable(self._what, f"other orders of this instance have been at it for {WAIT_SECONDS:.0f} s")


class SharedReading(Generic[T]):
    """The newest reading of one thing. An older one is let go before the next begins, so that memory holds one."""

    def __init__(self, what: str) -> None:
        self._reading = OneAtATime(what)
        self._last: T | None = None

    def get(self, is_good: Callable[[T], bool], read: Callable[[], T], sleep: Sleep) -> tuple[T, bool]:
        """Return a reading that the caller calls good, and whether another call had made it.

        A reading that the caller makes itself is good by that alone.

        Raises:
            Retryable: others have been reading it for too long; and what `read` raises.
        """
        last = self._last
        if last is not None and is_good(last):
            return last, True
        del last
        with self._reading.held(sleep):
            last = self._last
            if last is not None and is_good(last):
                return last, True
            self._last = last = None
            fresh = read()
            self._last = fresh
            return fresh, False


class SharedRows(Generic[T]):
    """Readings of many things by name. Who misses some reads them, one call at a time, and all use what it brought."""

    def __init__(self, what: str, stands_for: timedelta) -> None:
        self._reading, self._stands_for = OneAtATime(what), stands_for
        self._rows: dict[str, tuple[T | None, datetime]] = {}

    def get(
        self, names: Collection[str], now: datetime, read: Callable[[Collection[str]], Mapping[str, T]], sleep: Sleep
    ) -> tuple[Mapping[str, T], datetime]:
        """Return what is there of these names, and a time after which all of it was read.

        Raises:
            Retryable: others have been reading for too long; and what `read` raises.
        """
        if self._missing(names, now):
            with self._reading.held(sleep):
                if missing := self._missing(names, now):
                    self._keep(missing, read(missing), now)
        rows = {name: row for name in names if (row := self._rows.get(name)) is not None}
        found = {name: value for name, (value, _) in rows.items() if value is not None}
        return found, min((at for _, at in rows.values()), default=now)

    def _missing(self, names: Collection[str], now: datetime) -> list[str]:
        rows = self._rows
        return [name for name in names if name not in rows or now - rows[name][1] > self._stands_for]

    def _keep(self, asked: Collection[str], found: Mapping[str, T], now: datetime) -> None:
        """Keep what came, what was asked for and is not there, and of the rest what another call may be using."""
        young = {name: row for name, row in self._rows.items() if now - row[1] <= 2 * self._stands_for}
        self._rows = {**young, **{name: (found.get(name), now) for name in {*asked, *found}}}


@dataclass(frozen=True)
class WholeSnapshot:
    """The whole cluster, and the cluster's document as it stood just before the reading of it began."""

    snapshot: Snapshot
    state: ClusterState


@dataclass(frozen=True)
class NodesAndBudgets:
    """What an order is measured by beside its own node; `read_at` is the state's time just before the reading."""

    nodes: tuple[Node, ...]
    disruption_budgets: tuple[PodDisruptionBudget, ...]
    read_at: datetime


@dataclass(frozen=True)
class BudgetsAndUnbound:
    """What each look of a drain sees beside its own node; `read_at` as above."""

    disruption_budgets: tuple[PodDisruptionBudget, ...]
    unbound: tuple[Pod, ...]
    read_at: datetime


@dataclass(frozen=True)
class StorageReading:
    """What stands behind the pods' volumes; `read_at` as above."""

    storage: Storage
    read_at: datetime


@dataclass(frozen=True)
class BuffersReading:
    """What capacity buffers hold room for; `read_at` as above."""

    buffers: Buffers
    read_at: datetime


@dataclass(frozen=True)
class ClassesReading:
    """What ComputeClasses say of scale-down; `read_at` as above."""

    compute_classes: ComputeClasses
    read_at: datetime


@dataclass(frozen=True)
class SharedReadings:
    """What the orders of one instance read together; how old each may be, `functions.drainer.shared_snapshots` says."""

    whole: SharedReading[WholeSnapshot] = field(default_factory=lambda: SharedReading("the whole picture"))
    nodes_and_budgets: SharedReading[NodesAndBudgets] = field(
        default_factory=lambda: SharedReading("nodes and PodDisruptionBudgets")
    )
    budgets_and_unbound: SharedReading[BudgetsAndUnbound] = field(
        default_factory=lambda: SharedReading("PodDisruptionBudgets and pods without a node")
    )
    storage: SharedReading[StorageReading] = field(default_factory=lambda: SharedReading("claims and volumes"))
    buffers: SharedReading[BuffersReading] = field(default_factory=lambda: SharedReading("capacity buffers"))
    compute_classes: SharedReading[ClassesReading] = field(default_factory=lambda: SharedReading("ComputeClasses"))
    workloads: SharedRows[Workload] = field(default_factory=lambda: SharedRows("workloads", WORKLOADS_STAND_FOR))
    """By `PodClass.workload`."""
    proof: OneAtATime = field(default_factory=lambda: OneAtATime("proof of placement and claim"))
    """One order after the other, so that each proof counts the claim before it."""
