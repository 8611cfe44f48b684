"""READ FIRST here. Which machine types the pools should have for the requests that are there, and what that saves.

Nodes that a drain may empty may go for new ones on offer (`offers`). What the `search` finds, the `study` proves.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.forecast.what_if import DoneOf, no_progress
from functions.cli.analysis.shapes.offers import NewGroup
from functions.cli.analysis.shapes.study import ProvedWorld, ShapeRequest, Study
from shared.core.cluster.resources import total
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Bill
from shared.core.records.state import PoolMarks
from shared.core.rules.situation import Situation

NIGHT: Final = 0.6  # A snapshot that books less of CPU and memory than this share may be one of the night.


@dataclass(frozen=True)
class PoolAdvice:
    """One pool now and as proposed. Money is micro-dollars an hour."""

    pool: str
    machine: str
    before: int
    kept: int
    new: Mapping[NewGroup, int]
    saving: int
    moved: int
    blocked: int  # How many of the nodes that stay no drain may empty.
    gone: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def after(self) -> int:
        return self.kept + sum(self.new.values())

    @property
    def types(self) -> Mapping[str, int]:
        """By machine type how many new nodes come, the most first."""
        found = Counter[str]()
        for group, count in self.new.items():
            found[group.machine] += count
        return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))

    @property
    def proposed(self) -> str:
        """The machine types that come; the pool's own where none do."""
        return " + ".join(self.types) or self.machine


@dataclass(frozen=True)
class Advice:
    """The whole answer. Money is micro-dollars an hour."""

    pools: tuple[PoolAdvice, ...]
    before: int  # Nodes of today, those without a pool included.
    now: int
    steady: int
    """What is paid in the policy's steady state, as `ebb plan` shows it: the same machine types, and fewer nodes."""
    proposed: int
    booked: float  # The share of all CPU or memory that pods book, whichever is more.
    proof: ProvedWorld

    @property
    def after(self) -> int:
        return len(self.proof.world.nodes)

    @property
    def saving(self) -> int:
        return self.now - self.proposed

    @property
    def more(self) -> int:
        """What the proposal saves beyond the policy's steady state."""
        return self.steady - self.proposed

    @property
    def has_other_types(self) -> bool:
        """Whether a pool gets nodes of another machine type."""
        return any(machine != pool.machine for pool in self.pools for machine in pool.types)

    @property
    def moved(self) -> int:
        return sum(pool.moved for pool in self.pools)


def advise(
    situation: Situation,
    bill: Bill,
    request: ShapeRequest,
    marks: Mapping[str, PoolMarks] | None = None,
    progress: DoneOf = no_progress,
) -> Advice:
    steady = bill.cost_of(find_steady_state(situation, marks or {}, bill.prices).rest.snapshot.nodes)
    study = Study(situation, bill, request)
    proof = study.prove(study.search(progress))
    now, proposed = bill.cost_of(study.snapshot.nodes), bill.cost_of(proof.world.nodes)
    pools, booked = tuple(_pools(study, proof)), _booked_share(study.snapshot)
    return Advice(pools, len(study.snapshot.nodes), now, steady, proposed, booked, proof)


def _booked_share(snapshot: Snapshot) -> float:
    nodes = [node for node in snapshot.nodes if not node.outside]
    offered = total(node.allocatable for node in nodes)
    taken = total(snapshot.pods_by_node[node.name].booked for node in nodes)
    return max(taken.cpu / max(offered.cpu, 1), taken.memory / max(offered.memory, 1))


def _pools(study: Study, proof: ProvedWorld) -> Iterator[PoolAdvice]:
    """Yield what becomes of each pool; what a change of pools saves is counted pool by pool, in the order of names."""
    nodes = list(study.snapshot.nodes)
    for offer in study.offered:
        gone = [node for node in offer.nodes if node.name not in proof.kept]
        new = {group: count for group, count in proof.new.items() if group.pool == offer.pool}
        come = [study.new_nodes.node(group, number) for group, count in new.items() for number in range(count)]
        after = [node for node in nodes if node not in gone] + come
        saving, nodes = study.bill.cost_of(nodes) - study.bill.cost_of(after), after
        kept = [node for node in offer.nodes if node.name in proof.kept]
        yield PoolAdvice(
            offer.pool, offer.machine, len(offer.nodes), len(kept), new, saving,
            sum(study.moving_pods(node) for node in gone), sum(node.name not in study.may_go for node in kept),
            tuple(node.name for node in gone), offer.unknown,
        )  # fmt: skip
