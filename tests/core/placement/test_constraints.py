from collections import Counter
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from shared.core.cluster import names
from shared.core.cluster.pod import HostPort, PodClass
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.constraint import (
    Constraint,
    ConstraintInput,
    Constraints,
    ConstraintState,
    ConstraintStates,
)
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import POTENTIAL, ROBUST
from shared.core.rules.unmodelled import VolumeFacts, find_unmodelled
from tests.builders import cluster, mounts, node, persistent_volume, pod, pod_class, storage, volume_claim
from tests.depth import cases

LOUD = {"noise": "loud"}


@dataclass
class Quiet(Constraint):
    """On trial: a node holds two loud pods at most, and a node labelled `library` none."""

    given: ConstraintInput
    made: list["QuietState"] = field(default_factory=list)

    def concerns(self, kind: int) -> bool:
        return self.given.classes[kind].labels.get("noise") == "loud"

    def admits(self, kind: int) -> NodeMask | None:
        assert self.concerns(kind)
        return np.array(["library" not in any_node.labels for any_node in self.given.snapshot.nodes])

    def state(self) -> ConstraintState:
        return QuietState(self)


class QuietState(ConstraintState):
    """`told` is all it was told in order, as a word and the node's number."""

    def __init__(self, quiet: Quiet) -> None:
        self.quiet = quiet
        quiet.made.append(self)
        self.loud: Counter[int] = Counter()
        self.leaving: Counter[int] = Counter()
        self.closed: set[int] = set()
        self.told: list[tuple[str, int]] = []

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        assert self.quiet.concerns(kind)
        self.loud[node] += pods
        self.told.append(("add" if pods > 0 else "take", node))

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        assert self.quiet.concerns(kind)
        self.leaving[node] += pods
        self.told.append(("leave" if pods > 0 else "stay", node))

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        assert self.quiet.concerns(kind)
        self.leaving[node] -= pods
        self.loud[node] -= pods
        self.told.append(("evict" if pods > 0 else "restore", node))

    def close(self, node: int) -> None:
        assert node not in self.closed
        self.closed.add(node)

    def reopen(self, node: int) -> None:
        self.closed.remove(node)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        assert self.quiet.concerns(kind)
        self.told.append(("asked", -1))
        return np.array([self.loud[place] < 2 for place in range(len(self.quiet.given.snapshot.nodes))])

    def copy(self) -> "QuietState":
        twin = QuietState(self.quiet)
        twin.loud, twin.leaving, twin.closed = Counter(self.loud), Counter(self.leaving), set(self.closed)
        return twin

    @property
    def counts(self) -> tuple[dict[int, int], dict[int, int], set[int]]:
        return _not_zero(self.loud), _not_zero(self.leaving), set(self.closed)


def _not_zero(counts: Counter[int]) -> dict[int, int]:
    return {place: count for place, count in counts.items() if count}


@dataclass
class Trial:
    """A simulation over a picture on which the trial constraint is asked beside those of the product."""

    simulation: Simulation
    quiet: Quiet

    @property
    def state(self) -> QuietState:
        """The first packing's."""
        return self.quiet.made[1]


def on_trial(snapshot: Snapshot, *, robust: bool = False) -> Trial:
    made: list[Quiet] = []

    def quiet(given: ConstraintInput) -> Constraint:
        made.append(Quiet(given))
        return made[0]

    arrays = ClusterArrays(snapshot, (*CONSTRAINTS, quiet))
    simulation = Simulation(arrays, [Packing(arrays, row) for row in (ROBUST if robust else POTENTIAL)])
    return Trial(simulation, made[0])


def crowd(loud: int = 1, calm: int = 1, *, library: bool = False, cordoned: bool = False) -> Snapshot:
    """n1 with so many loud pods, n2 and n3 with one loud and one calm pod each; n3 may be a library without."""
    first = node("n1", unschedulable=cordoned)
    shouting, calm_kind = pod_class(cpu=0.1, labels=LOUD), pod_class(cpu=0.1)
    pods = [pod(f"a-loud{number}", on="n1", kind=shouting) for number in range(loud)]
    pods += [pod(f"b-calm{number}", on="n1", kind=calm_kind) for number in range(calm)]
    pods += [pod("c-loud", on="n2", kind=shouting), pod("d-calm", on="n2", kind=calm_kind)]
    if not library:
        pods += [pod("e-loud", on="n3", kind=shouting), pod("f-calm", on="n3", kind=calm_kind)]
    return cluster([first, node("n2"), node("n3", labels={"library": "yes"} if library else {})], pods)


@cases(
    "expected, loud, library",
    ("one more on each of two nodes", True, 2, False),
    ("no third anywhere", False, 3, False),
    ("none in the library, one next to it", True, 1, True),
    ("nor where none may ever be", False, 2, True),
)
@pytest.mark.parametrize("robust", [False, True])
def test_a_node_goes_only_if_every_constraint_allows_its_pods_a_place(
    expected: bool, loud: int, library: bool, robust: bool
) -> None:
    trial = on_trial(crowd(loud, library=library), robust=robust)

    assert (trial.simulation.try_remove("n1") is None) is expected


def test_what_may_never_go_somewhere_is_left_out_before_anything_is_counted() -> None:
    arrays = on_trial(crowd(library=True)).simulation.arrays

    assert [arrays.admitting(kind).tolist() for kind in (0, 1)] == [[True, True, False], [True, True, True]]


@pytest.mark.parametrize("loud", [3, 4])
def test_a_refused_removal_takes_back_all_it_shown(loud: int) -> None:
    trial = on_trial(crowd(loud))
    before = trial.state.counts

    assert trial.simulation.try_remove("n1") is not None
    assert trial.state.counts == before == ({0: loud, 1: 1, 2: 1}, {}, set())


def test_a_removal_is_taken_back_from_every_strategy_when_a_later_one_refuses() -> None:
    """n1's pods fit only where they are packed: n3 has the room of n1's larger pod and no more."""
    nodes = [node("n1"), node("n2", cpu=3), node("n3", cpu=2)]
    parts = [pod(f"{name}", on="n1", cpu=cpu, labels=LOUD) for name, cpu in (("a", 1), ("b", 1), ("c", 2))]
    trial = on_trial(cluster(nodes, [*parts, pod("d", on="n2", cpu=1)]), robust=True)
    states = trial.quiet.made[1:]
    refused = trial.simulation.try_remove("n1")

    assert refused is not None
    assert not refused.detail.endswith("packed")
    assert [state.counts for state in states] == [({0: 3}, {}, set())] * len(ROBUST)


def words(told: list[tuple[str, int]]) -> list[str]:
    """What a constraint was told and asked, in order; how often it was asked about one pod does not matter."""
    return [word for word, _ in groupby(word for word, _ in told)]


def test_all_that_leave_are_shown_first_and_each_is_gone_before_its_replacement_looks_for_a_place() -> None:
    trial = on_trial(crowd(loud=2))

    assert trial.simulation.try_remove("n1") is None
    told = trial.state.told
    assert told[:2] == [("leave", 0), ("leave", 0)]
    assert words(told[2:]) == ["evict", "asked", "add"] * 2
    assert trial.state.counts == ({1: 2, 2: 2}, {}, {0})


def test_a_copy_goes_its_own_way() -> None:
    trial = on_trial(crowd(loud=2))
    before = trial.state.counts
    twin = trial.simulation.copy()

    assert twin.try_remove("n1") is None
    assert trial.state.counts == before
    assert trial.simulation.try_remove("n1") is None
    assert twin.assignments.moves() == trial.simulation.assignments.moves()


def test_pods_without_a_node_come_from_nowhere() -> None:
    trial = on_trial(crowd())
    arrays = trial.simulation.arrays
    packing = Packing(arrays, POTENTIAL[0])
    state = trial.quiet.made[-1]

    assert packing.reserve([0, 0, 0, 0], -1) == [0]
    assert words(state.told) == ["asked", "add"] * 3 + ["asked"]


@cases("expected, pods", ("kept", ({1: 2, 2: 2}, {}, {0}), 2), ("not", ({0: 3, 1: 1, 2: 1}, {}, set()), 3))
def test_room_kept_for_a_node_that_the_autoscaler_empties_is_shown_wholly_or_not_at_all(
    expected: tuple[dict[int, int], dict[int, int], set[int]], pods: int
) -> None:
    trial = on_trial(crowd(loud=pods, cordoned=True))
    packing = Packing(trial.simulation.arrays, POTENTIAL[0])

    assert packing.reserve_all([0] * pods, 0) is (pods == 2)
    assert trial.quiet.made[-1].counts == expected


EVERY = LabelSelector((Requirement("app", "In", ("web",)),))
TERM = (PodTerm(names.HOSTNAME_LABEL, EVERY, ("default",)),)
BY_OTHERS = {
    "namespace", "owner", "labels", "annotations", "requests", "node_selector", "node_terms", "tolerations",
    "needs_kubelet", "os",
}  # fmt: skip
"""What places a pod by the node alone, and what does not place it."""
NO_RULE = {
    "priority", "priority_class", "grace_seconds", "restart_policy", "asks", "raised_by", "replaced_at_end",
    "eviction_responders",
    "refused_by", "template_adds", "runtime_class",
}  # fmt: skip
MODELLED: dict[str, Any] = {
    "affinity": TERM,
    "anti_affinity": TERM,
    "host_ports": (HostPort("TCP", 80),),
    "hard_spread": (SpreadConstraint(names.ZONE_LABEL, None),),
    "volumes": mounts("data"),
}
NOT_MODELLED: dict[str, Any] = {
    "node_name": "n1",
    "resource_claims": ("gpu",),
    "scheduling_gates": ("wait",),
    "scheduler": "mine",
    "unmodelled": ("something else",),
}


def beside(spec: PodClass) -> Snapshot:
    """A cluster with one such pod, which knows its storage."""
    disk = storage(volume_claim("data"), persistent_volume("pv-data", zone="a"))
    return replace(cluster([node("n1")], [pod("p", on="n1", kind=spec)]), storage=disk)


def concerned(spec: PodClass) -> bool:
    """Whether any constraint counts the pod."""
    return bool(ClusterArrays(beside(spec)).constraints.concerning[0])


def test_every_rule_of_a_pod_is_on_one_of_the_lists() -> None:
    written = {row.name for row in fields(PodClass) if row.init}

    assert written == BY_OTHERS | NO_RULE | MODELLED.keys() | NOT_MODELLED.keys()


@pytest.mark.parametrize("rule", [*MODELLED, *NOT_MODELLED])
def test_a_rule_that_a_constraint_models_no_longer_blocks_and_every_other_does(rule: str) -> None:
    spec = pod_class(**{rule: (MODELLED | NOT_MODELLED)[rule]})

    kept = bool(find_unmodelled(spec, VolumeFacts.of(beside(spec))))

    assert (concerned(spec), kept) == ((True, False) if rule in MODELLED else (False, True))


def test_without_any_constraint_every_node_is_allowed() -> None:
    arrays = ClusterArrays(crowd(), ())

    assert isinstance(arrays.constraints, Constraints)
    assert isinstance(arrays.constraint_states, ConstraintStates)
    assert arrays.constraints.admits(0) is None
    assert arrays.constraint_states.allowed_nodes(0) is None
