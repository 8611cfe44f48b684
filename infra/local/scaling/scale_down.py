"""Scale-down: the loop that looks at candidates, marks them and starts the removal of those whose time has come.

Empty nodes go in bulk, nodes with pods that have to move one at a time.
"""

from dataclasses import replace

from infra.local.scaling.candidates import Candidates, at_minimum
from infra.local.scaling.client import Client
from infra.local.scaling.removals import Removals, write
from infra.local.scaling.settings import AutoscalerSettings
from infra.local.scaling.view import (
    CANDIDATE,
    TO_BE_DELETED,
    View,
    group_of,
    has_taint,
    taints_of,
    without_taint,
)
from infra.local.world.kinds import Json


class ScaleDown:
    """Everything that makes nodes fewer."""

    def __init__(self, client: Client, settings: AutoscalerSettings) -> None:
        self._client = client
        self._candidates = Candidates(settings)
        self._removals = Removals(client, settings)
        self._started = False

    def fail_deletions(self, names: frozenset[str]) -> None:
        self._removals.settings = replace(self._removals.settings, fail_deletions=names)

    def due_at(self) -> float:
        """When a removal under way is to be looked at, between two loops."""
        return self._removals.due_at()

    def is_idle(self) -> bool:
        """No node is unneeded or on its way out."""
        return not self._candidates.since and not self._removals.under_way

    def proceed(self, view: View, now: float) -> None:
        """Go on with the removals under way."""
        self._removals.proceed(view, now)

    def step(self, view: View, now: float) -> None:
        """One loop."""
        if not self._started:
            self._clean_up(view)
        self.proceed(view, now)
        self._candidates.update(view, self._removals.leaving(), now)
        self._mark_candidates(view, now)
        if now >= self._removals.not_before:
            self._start(view, now)

    def _clean_up(self, view: View) -> None:
        """After a start, every ToBeDeleted taint is taken off and the node is uncordoned."""
        for node in view.nodes:
            if has_taint(node, TO_BE_DELETED):
                self._removals.release(node)
        self._started = True

    def _mark_candidates(self, view: View, now: float) -> None:
        for node in view.nodes:
            wanted = node["metadata"]["uid"] in self._candidates.since
            if wanted is has_taint(node, CANDIDATE) or has_taint(node, TO_BE_DELETED):
                continue
            taint = {"key": CANDIDATE, "value": str(int(now)), "effect": "PreferNoSchedule"}
            taints = [*taints_of(node), taint] if wanted else without_taint(node, CANDIDATE)
            write(self._client, node, {"taints": taints})

    def _start(self, view: View, now: float) -> None:
        ripe = self._candidates.ripe(view, now)
        for node in sorted(ripe, key=lambda node: bool(view.movers(node, now))):
            drains = bool(view.movers(node, now))
            may = self._has_room(drains=drains) and not self._at_minimum(view, node)
            if may and self._removals.start(node, now, drains=drains):
                self._candidates.since.pop(node["metadata"]["uid"])

    def _has_room(self, *, drains: bool) -> bool:
        settings, removals = self._removals.settings, self._removals
        if len(removals.under_way) >= settings.parallelism:
            return False
        return not drains or removals.drains() < settings.drain_parallelism

    def _at_minimum(self, view: View, node: Json) -> bool:
        pool = view.pool_of(node)
        return pool is None or at_minimum(pool, group_of(node), view.sizes(), self._removals.leaving().groups)
