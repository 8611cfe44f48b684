"""The planner's lease on its cluster: one pass at a time plans; one that was frozen past its lease orders nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace

from shared.core.records.state import ClusterState, Lease
from shared.errors import Stale
from shared.ports import Clock, State
from shared.store.compare_and_set import change_cluster


@dataclass(frozen=True)
class PlannerLease:
    """The lease of one call, which `owner` names. Each method raises Retryable when the state does not answer."""

    state: State
    clock: Clock
    owner: str

    def take(self, length: timedelta) -> bool:
        """Become the one planner of this cluster; False when another one lives (docs/acceptance.md row 109)."""

        def change(state: ClusterState, now: datetime) -> ClusterState | None:
            if state.planner and state.planner.is_held(now) and not self._is_ours(state):
                return None
            return replace(state, planner=Lease(self.owner, now + length))

        return self._is_ours(change_cluster(self.state, self.clock, change))

    def check(self) -> None:
        """Raise Stale when the lease is over: another pass may have planned since this one read its snapshot."""
        self.change(lambda state, _: state)

    def change(self, change: Callable[[ClusterState, datetime], ClusterState]) -> None:
        """Change the cluster's document while the lease is ours. Raises Stale when it is over."""

        def change_ours(state: ClusterState, now: datetime) -> ClusterState:
            if state.planner is None or not self._is_ours(state) or not state.planner.is_held(now):
                raise Stale("the planner's lease is over: the next pass plans on fresh reads")
            return change(state, now)

        change_cluster(self.state, self.clock, change_ours)

    def end(self) -> None:
        def change(state: ClusterState, _: datetime) -> ClusterState | None:
            return replace(state, planner=None) if self._is_ours(state) else None

        change_cluster(self.state, self.clock, change)

    def _is_ours(self, state: ClusterState) -> bool:
        return state.planner is not None and state.planner.owner == self.owner
