"""The planner's lease on its cluster: one pass at a time plans; one that was frozen past its lease orders nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from shared.core.records.state import ClusterState, Lease
from shared.errors import Stale
from shared.ports import Clock, State
from shared.store.compare_and_set import change_cluster

MOST_FINISHED: Final = 100  # Runs: four hours of ticks and second passes, if a tick comes every five minutes.


@dataclass(frozen=True)
class PlannerLease:
    """The lease of one call, which `owner` names. Each method raises Retryable when the state does not answer."""

    state: State
    clock: Clock
    owner: str

    def take(self, length: timedelta, run_id: str) -> bool:
        """Become the one planner of this cluster; False when another one lives (docs/acceptance.md row 109).

        False also for a run that is finished: Cloud Scheduler may deliver a tick twice.
        """

        def change(state: ClusterState, now: datetime) -> ClusterState | None:
            if run_id in state.finished:
                return None
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

    def end(self, finished: str = "") -> None:
        """Let go of the lease if it is still ours, and in the same write note the run that is `finished`."""

        def change(state: ClusterState, _: datetime) -> ClusterState:
            runs = (*state.finished, finished)[-MOST_FINISHED:] if finished else state.finished
            return replace(state, planner=None if self._is_ours(state) else state.planner, finished=runs)

        change_cluster(self.state, self.clock, change)

    def _is_ours(self, state: ClusterState) -> bool:
        return state.planner is not None and state.planner.owner == self.owner
