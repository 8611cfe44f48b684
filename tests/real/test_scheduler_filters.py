"""Ebb's placement against the kube-scheduler's own filter plugins, on clusters drawn from seeds.

Where Ebb says that a pod fits, no plugin may refuse it; where a plugin would take it and Ebb does not, the kind of
caution is named here, and all kinds together stay rare.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import pytest

from shared.core.cluster import names
from shared.core.cluster.node import Node
from tests.measured_figures import MEASURED
from tests.real.scheduler_filters import Question, SchedulerFilters
from tests.real.scheduler_filters.comparison import Step, fits, snapshot, witness
from tests.real.scheduler_filters.generator import Generator
from tests.real.scheduler_filters.program import Cluster, Manifest

Record = Callable[[str, object], None]
pytestmark = pytest.mark.control_plane

CLUSTERS, NODES, BOUND, ASKED = 60, 20, 45, 25
PLANS, PLAN_NODES, PLAN_PODS = 60, 40, 120
CAUTIONS: Final = {
    "cordoned": "a pod that tolerates the cordon fits a cordoned node; Ebb plans nothing onto one",
    "not ready": "the scheduler knows the taint of a node that is not Ready only; Ebb looks at the node itself",
    "going": "a pod that tolerates the autoscaler's taint fits a node that is about to be deleted",
}
MOST_CAUTION: Final = 0.02


def caution(node: Node) -> str:
    """Return why Ebb plans nothing onto a node that the scheduler would use, or what must not be."""
    if node.unschedulable:
        return "cordoned"
    if not node.ready:
        return "not ready"
    return "going" if any(map(node.has_taint, names.GOING_TAINTS)) else "unexplained"


def test_ebb_says_of_no_node_that_a_pod_fits_where_a_filter_refuses_it(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    asked = [draw(seed) for seed in range(CLUSTERS)]
    answers = scheduler_filters.ask(asked)

    wrong, cautious, refused, taken = [], Counter[str](), Counter[str](), 0
    for seed, ((cluster, questions), answer) in enumerate(zip(asked, answers, strict=True)):
        picture = snapshot(cluster, [question.pod for question in questions])
        ebb = fits(picture)
        for question, refusals in zip(questions, answer, strict=True):
            said = ebb[key(question.pod)]
            takers = picture.node_by_name.keys() - refusals.keys()
            refused.update(plugin for plugins in refusals.values() for plugin in plugins)
            taken += len(takers)
            wrong += [f"seed {seed}: {key(question.pod)} on {each}: {refusals[each]}" for each in sorted(said - takers)]
            cautious.update(caution(picture.node_by_name[each]) for each in takers - said)

    for line in figures(taken, refused, cautious):
        record_property(MEASURED, line)
    assert wrong == []
    assert cautious.keys() <= CAUTIONS.keys()
    assert cautious.total() <= MOST_CAUTION * taken


def test_no_move_of_a_witness_is_refused_while_the_drained_nodes_stand_cordoned_and_as_they_go(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    plans = [plan(seed) for seed in range(PLANS)]
    asked = [world for cluster, steps in plans for world in replays(cluster, steps)]
    answers = scheduler_filters.ask(asked)

    found = [
        f"seed {place // 2}, {'gone' if place % 2 else 'cordoned'}: {key(question.pod)} on {question.bind}: {said}"
        for place, ((_, questions), answer) in enumerate(zip(asked, answers, strict=True))
        for question, refusals in zip(questions, answer, strict=True)
        if (said := refusals.get(question.bind))
    ]
    drained, moved = sum(len(steps) for _, steps in plans), sum(map(len, answers))
    record_property(MEASURED, f"{PLANS} witnesses free {drained} nodes; {moved} moves asked, {len(found)} refused")
    assert found == []
    assert drained > PLANS


def draw(seed: int) -> tuple[Cluster, Sequence[Question]]:
    generator = Generator(seed)
    cluster = generator.cluster(NODES, BOUND, rejecting=0.05, unmodelled=0.1)
    return cluster, [Question(generator.pod(f"asked-{place:02}", rejecting=0.3)) for place in range(ASKED)]


def plan(seed: int) -> tuple[Cluster, Sequence[Step]]:
    cluster = Generator(1_000_000 + seed).cluster(PLAN_NODES, PLAN_PODS, rejecting=0.1, unmodelled=0.01)
    return cluster, witness(snapshot(cluster))


def replays(cluster: Cluster, steps: Sequence[Step]) -> list[tuple[Cluster, Sequence[Question]]]:
    """Return the plan twice: every node stands cordoned from its step on, or is gone before the next one."""
    return [(cluster, replay(cluster, steps, gone=False)), (cluster, replay(cluster, steps, gone=True))]


def replay(cluster: Cluster, steps: Sequence[Step], *, gone: bool) -> Sequence[Question]:
    """Return the moves in order; at the end all that has moved is asked again where it lies."""
    pods = {key(pod): replacement(pod) for pod in cluster.pods}
    asked, lies = list[Question](), dict[str, str]()
    taken = [step.node for step in steps]
    for place, step in enumerate(steps, start=1):
        out = {"cordon": taken[:place], "gone": taken[: place - 1] if gone else []}
        asked += [Question(pods[pod], bind=target, **out) for pod, target in step.moves]
        lies |= step.moves
    end = {"cordon": taken, "gone": taken if gone else []}
    return asked + [Question(pods[pod], bind=target, **end) for pod, target in lies.items()]


def replacement(pod: Manifest) -> Manifest:
    """Return what the pod's controller creates in its place."""
    return pod | {"spec": {field: value for field, value in pod["spec"].items() if field != "nodeName"}}


def key(pod: Manifest) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def figures(taken: int, refused: Counter[str], cautious: Counter[str]) -> list[str]:
    """Return what was compared, and every kind of caution with its reason."""
    return [
        f"{CLUSTERS * ASKED} pods x {NODES} nodes: the filters allow {taken} pairs, Ebb {cautious.total()} fewer",
        f"refused: {', '.join(f'{plugin} {count}' for plugin, count in refused.most_common())}",
        *(f"{kind} {count}: {CAUTIONS.get(kind, 'nobody knows why')}" for kind, count in cautious.most_common()),
    ]
