"""Which share of the bound is found on generated clusters, by money; two checkers judge each result."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from shared.core.planning.candidates import AssessedNode, assess_nodes
from shared.core.policy import PoolPolicy
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.situation import Situation
from shared.core.rules.unmodelled import UNMODELLED
from tests import placement_checker
from tests.bench.bound_of import bound_of, rules_of
from tests.bench.clusters.api import snapshot as snapshot_of
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.workloads import Mix
from tests.builders import policy
from tests.measured_figures import say, timed

GOALS: Final = {Mix.PLAIN: "95%", Mix.RICH: "80%", Mix.MIXED: "(told, not bounded)"}
_ROBUST_UP_TO: Final = 1000
"""Nodes up to which the proof under all strategies is searched as well."""
_CHECKED_UP_TO: Final = 200
"""Nodes up to which the pod-by-pod checker is asked as well."""
_RULES_OF_PLACEMENT: Final = frozenset(reason for reason, _ in UNMODELLED)


@dataclass(frozen=True)
class Quality:
    nodes: int
    freed: tuple[str, ...]
    saving: int
    bound: float
    seconds: float
    robust: int | None
    """What is saved when the plan must hold under all strategies, with the default headroom; None = not searched."""
    pinned: int
    """Nodes that something else keeps."""

    @property
    def share(self) -> float:
        return self.saving / self.bound if self.bound > 0 else 1.0


def run(*, quick: bool) -> None:
    for count in (60, 200) if quick else (60, 200, 1000):
        for mix in GOALS:
            told(mix, measured(generated(count, mix)))


def told(mix: Mix, found: Quality) -> None:
    what = f"{mix.value}, {found.nodes:,} nodes: {len(found.freed):,} go, {found.seconds:.1f} CPU s"
    robust = "" if found.robust is None else f", robust {found.robust / max(found.bound, 1):.1%}"
    say(what, f"{found.share:.1%} of the bound{robust}", GOALS[mix])


def measured(cluster: BenchCluster) -> Quality:
    picture = snapshot_of(cluster)
    situation = Situation(picture, ClusterState(), policy())
    seconds, found = timed(lambda: potential(situation, load()))
    rows = assess_nodes(situation, SAFETY_RULES)
    pinned = [row.node.name for row in rows if _is_pinned(row)]
    bound = bound_of(picture, pinned, rules_of(cluster))
    moves = {move.pod: move.node for move in found.moves}
    _judge(cluster, picture, moves, found.nodes)
    assert found.saving <= bound + 1, (found.saving, bound)
    return Quality(
        nodes=len(picture.nodes),
        freed=found.nodes,
        saving=found.saving,
        bound=bound,
        seconds=seconds,
        robust=_robust(situation, rows) if len(rows) <= _ROBUST_UP_TO else None,
        pinned=len(pinned),
    )


def _is_pinned(row: AssessedNode) -> bool:
    """Whether something else than a rule of placement keeps the node."""
    reasons = {blocker.reason for blocker in row.blockers} - {Unremovable.BLOCKED_BY_POD}
    return any(not isinstance(reason, PodBlock) or reason not in _RULES_OF_PLACEMENT for reason in reasons)


def _judge(cluster: BenchCluster, picture: Snapshot, moves: Mapping[str, str], drained: Collection[str]) -> None:
    assert faults(cluster, moves, set(drained)) == []
    if len(picture.nodes) <= _CHECKED_UP_TO:
        assert placement_checker.faults(picture, moves, set(drained)) == []


def _robust(situation: Situation, rows: Collection[AssessedNode]) -> int:
    headroom = dict.fromkeys(situation.snapshot.nodes_by_pool, PoolPolicy().headroom_percent)
    candidates = [Candidate(row.node.name, load().of(row.node).per_hour) for row in rows if row.is_candidate]
    return search(Simulation.of(situation.snapshot, headroom=headroom), candidates).saving
