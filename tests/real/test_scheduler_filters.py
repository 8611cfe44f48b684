"""Ebb's placement against the kube-scheduler's filters: nowhere more, and little less (`WAVES_ASKED` clusters)."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final, NamedTuple

import pytest

from infra.local.world.pods import units
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import PodTerm
from shared.core.cluster.snapshot import Snapshot
from tests.depth import DEEP, SEED
from tests.measured_figures import MEASURED
from tests.real.scheduler_filters import Question, SchedulerFilters
from tests.real.scheduler_filters.comparison import Step, fits, kept, parts_of_a_wave, snapshot, witness
from tests.real.scheduler_filters.generator import Generator
from tests.real.scheduler_filters.program import Cluster, Manifest, key, refusals_of, replacement
from tests.real.scheduler_filters.storage_generator import made_for

Record = Callable[[str, object], None]
pytestmark = pytest.mark.control_plane

CLUSTERS = PLANS = 60 if DEEP else 12
SEEDS: Final = range(SEED, SEED + CLUSTERS)
WAVES: Final = int(os.environ.get("WAVES_ASKED", CLUSTERS))
PARTS_OF_A_WAVE: Final = 20 if DEEP else 3
NODES, BOUND, ASKED = 20, 45, 25
PLAN_NODES, PLAN_PODS = 40, 120
STORED: Final = 0.3
"""How many of the pods have volumes."""
CAUTIONS: Final = {
    "cordoned": "a pod that tolerates the cordon fits a cordoned node; Ebb plans nothing onto one",
    "not ready": "the scheduler knows the taint of a node that is not Ready only; Ebb looks at the node itself",
    "unsteady": "the spread holds only as long as pods of nodes that may go at any time stay where they are",
    "unsteady itself": "pods of nodes that may go count for their domain as there, and for the least of all as gone",
    "going": "a pod that tolerates the autoscaler's taint fits a node that is about to be deleted",
    "companions going": "all pods that the pod asks for lie on nodes that may go at any time, and the pods with them",
    "local_volume": "a pod whose disk lies on a node may go there; Ebb moves no such pod at all",
    "shared_disk": "no filter keeps pods together that share a disk for one node; Ebb leaves them where they are",
    "volumes": "the scheduler asks nothing of an inline disk's zone; Ebb does not know where it can be mounted",
}
MOST_CAUTION: Final = 0.02
MOST_UNFIT: Final = 0.01
"""Of the nodes of drawn parts: in another order a strategy fills keepers in another way. A pass keeps such nodes."""
TAKEN: Final = (
    {"key": names.OUR_TAINT, "value": "order", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
)
"""What a node that is being drained bears: the second is the node controller's answer to the cordon."""
WORLDS: Final = ("cordoned", "cordoned, all evicted at once", "gone", "gone, all evicted at once")


class Cautious(NamedTuple):
    cluster: Cluster
    question: Question
    node: Node
    kept_by: str
    """The rule by which such a pod never moves, if any."""


def kinds_of_caution(scheduler_filters: SchedulerFilters, found: Sequence[Cautious]) -> Counter[str]:
    """Count why Ebb plans nothing onto nodes that the scheduler would use."""
    worlds = [unsteady(cautious) for cautious in found]
    answers = iter(scheduler_filters.ask(world for each in worlds for world in each))
    refused = [
        [next(answers)[0].get(cautious.node.name, {}) for _ in those]
        for cautious, those in zip(found, worlds, strict=True)
    ]
    return Counter(
        "unsteady" if any("PodTopologySpread" in said for said in those) else caution(cautious)
        for cautious, those in zip(found, refused, strict=True)
    )


def unsteady(found: Cautious) -> list[tuple[Cluster, Sequence[Question]]]:
    """Return the cluster once nodes of other domains, of which nobody knows whether they stay, are empty, and gone."""
    cluster, question, node = found[:3]
    worlds: list[tuple[Cluster, Sequence[Question]]] = []
    for constraint in question.pod["spec"].get("topologySpreadConstraints", []):
        key = constraint["topologyKey"]
        names_ = [
            each["metadata"]["name"]
            for each in cluster.nodes
            if each["metadata"]["labels"].get(key) != node.labels.get(key) and may_go(each)
        ]
        pods = [pod for pod in cluster.pods if pod["spec"]["nodeName"] not in names_]
        worlds.append((replace(cluster, pods=pods), [question]))
        worlds.append((cluster, [replace(question, gone=names_)]))
    return worlds


def may_go(node: Manifest) -> bool:
    going = {taint["key"] for taint in node["spec"]["taints"]} & {*names.GOING_TAINTS, names.OUR_TAINT}
    return bool(going) or node["spec"]["unschedulable"] or node["status"]["conditions"][0]["status"] != "True"


def caution(found: Cautious) -> str:
    """Return what keeps Ebb from planning anything onto the node, or the pod onto this one."""
    node, picture = found.node, snapshot(found.cluster, [found.question.pod])
    pod = next(pod for pod in picture.pods if pod.key == key(found.question.pod))
    if found.kept_by:
        return found.kept_by
    if node.unschedulable:
        return "cordoned"
    if not node.ready:
        return "not ready"
    if is_going(node):
        return "going"
    if pod.spec.affinity and not has_company(picture, pod.spec, node):
        return "companions going"
    return "unsteady itself" if is_beside_going(found) else "unexplained"


def is_beside_going(found: Cautious) -> bool:
    """Whether a node that may go lies in one of the domains over which the pod is to be spread."""
    keys = [each["topologyKey"] for each in found.question.pod["spec"].get("topologySpreadConstraints", [])]
    rows = [node["metadata"]["labels"] for node in found.cluster.nodes if may_go(node)]
    return any(key in row and row[key] == found.node.labels.get(key) for key in keys for row in rows)


def is_going(node: Node) -> bool:
    return any(map(node.has_taint, names.GOING_TAINTS))


def has_company(picture: Snapshot, spec: PodClass, node: Node) -> bool:
    """Whether pods that the pod asks for lie in the node's domains, on nodes that stay."""
    bound = [(pod, picture.node_by_name[pod.node]) for pod in picture.pods if pod.node]
    staying = [(pod, on) for pod, on in bound if on.ready and not on.unschedulable and not is_going(on)]
    meant = [on for pod, on in staying if all(term_means(picture, term, pod.spec) for term in spec.affinity)]
    keys = {term.topology_key for term in spec.affinity}
    return all(any(key in node.labels and node.labels[key] == on.labels.get(key) for on in meant) for key in keys)


def term_means(picture: Snapshot, term: PodTerm, spec: PodClass) -> bool:
    return term.matches(spec.namespace, picture.namespaces.get(spec.namespace, {}), spec.labels)


def test_ebb_shows_of_no_node_that_a_pod_fits_where_a_filter_refuses_it(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    asked = [draw(seed) for seed in SEEDS]
    answers = scheduler_filters.ask(asked)

    wrong, found, refused, taken = [], list[Cautious](), Counter[str](), 0
    for seed, (cluster, questions), answer in zip(SEEDS, asked, answers, strict=True):
        picture = snapshot(cluster, [question.pod for question in questions])
        ebb, kept_by = fits(picture), kept(picture)
        for question, refusals in zip(questions, answer, strict=True):
            said = ebb[key(question.pod)]
            takers = picture.node_by_name.keys() - refusals.keys()
            refused.update(plugin for plugins in refusals.values() for plugin in plugins)
            taken += len(takers)
            wrong += [f"seed {seed}: {key(question.pod)} on {fit}: {refusals[fit]}" for fit in sorted(said - takers)]
            why = kept_by.get(key(question.pod), "")
            found += [Cautious(cluster, question, picture.node_by_name[taker], why) for taker in sorted(takers - said)]

    cautious = kinds_of_caution(scheduler_filters, found)
    for line in figures(taken, refused, cautious):
        record_property(MEASURED, line)
    assert wrong == []
    assert cautious.keys() <= CAUTIONS.keys()
    assert cautious.total() <= MOST_CAUTION * taken


def test_no_move_of_a_witness_is_refused_while_the_drained_nodes_stand_cordoned_and_as_they_go(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    plans = [plan(seed) for seed in SEEDS]
    told, found = refused_moves(scheduler_filters, plans)
    record_property(MEASURED, told)
    assert found == []
    assert drained(plans) > PLANS


def test_no_move_is_refused_to_pods_that_come_back_as_their_template_shows(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    plans = [returning_plan(seed) for seed in SEEDS]
    told, found = refused_moves(scheduler_filters, plans)
    record_property(MEASURED, f"as templates say: {told}")
    assert found == []
    assert drained(plans) > PLANS // 2

    drawn = [draw_sets(seed) for seed in SEEDS[: PLANS // 3]]
    as_they_left = [(returning(cluster, sets), witness(snapshot(cluster))) for cluster, sets in drawn]
    assert refused_moves(scheduler_filters, as_they_left)[1], "a witness that knows no templates would be refused"


def test_no_move_rests_on_where_pods_of_a_node_that_is_not_ready_may_come_to_lie(
    scheduler_filters: SchedulerFilters,
) -> None:
    """In this cluster they would fill the emptiest domain of a spread, and the replay leaves them where they are."""
    cluster = Generator(2_000_021).cluster(PLAN_NODES, PLAN_PODS, rejecting=0.1, attracted=0.15)
    assert refused_moves(scheduler_filters, [(cluster, witness(snapshot(cluster)))])[1] == []


def test_no_move_is_refused_to_any_part_of_a_wave_in_any_order(
    scheduler_filters: SchedulerFilters, record_property: Record
) -> None:
    clusters = {seed: drawn(seed) for seed in range(SEED, SEED + WAVES)}
    asked = [(cluster, *part) for seed, cluster in clusters.items() for part in parts(seed, cluster)]
    plans, unfit = [(cluster, steps) for cluster, steps, _ in asked], sum(left for *_, left in asked)
    told, found = refused_moves(scheduler_filters, plans)
    record_property(MEASURED, f"{PARTS_OF_A_WAVE} parts of each wave: {told}; {unfit} nodes did not fit in that order")
    assert found == []
    assert drained(plans) > WAVES
    assert unfit <= MOST_UNFIT * drained(plans)


def parts(seed: int, cluster: Cluster) -> Sequence[tuple[Sequence[Step], int]]:
    return parts_of_a_wave(snapshot(cluster), Random(seed), PARTS_OF_A_WAVE)  # noqa: S311 - a test's data


def refused_moves(
    scheduler_filters: SchedulerFilters, plans: Sequence[tuple[Cluster, Sequence[Step]]]
) -> tuple[str, list[str]]:
    """Return what was asked of plans, told by four kinds of replays, and what the scheduler's filters refused of it."""
    asked = [world for cluster, steps in plans for world in replays(cluster, steps)]
    answers = scheduler_filters.ask(asked)
    found = [
        f"seed {SEED + place // 4}, {WORLDS[place % 4]}: {key(question.pod)} on {question.bind}: {said}"
        for place, question, said in refusals_of(asked, answers)
    ]
    moved = sum(len(answer) for answer in answers)
    told = f"{len(plans)} witnesses free {drained(plans)} nodes; {moved} moves asked, {len(found)} refused"
    return told, found


def drained(plans: Sequence[tuple[Cluster, Sequence[Step]]]) -> int:
    return sum(len(steps) for _, steps in plans)


def draw(seed: int) -> tuple[Cluster, Sequence[Question]]:
    generator = Generator(seed)
    cluster = generator.cluster(NODES, BOUND, rejecting=0.05, attracted=0.1, stored=STORED)
    asked = [generator.pod(f"asked-{place:02}", rejecting=0.3, attracted=0.3) for place in range(ASKED)]
    for pod in asked:
        generator.storage.give(pod, STORED)
    return cluster, [Question(pod) for pod in asked]


def plan(seed: int) -> tuple[Cluster, Sequence[Step]]:
    cluster = drawn(seed)
    return cluster, witness(snapshot(cluster))


def drawn(seed: int) -> Cluster:
    generator = Generator(1_000_000 + seed)
    return generator.cluster(PLAN_NODES, PLAN_PODS, rejecting=0.1, attracted=0.15, stored=STORED)


def draw_sets(seed: int) -> tuple[Cluster, Sequence[Manifest]]:
    generator = Generator(3_000_000 + seed)
    cluster = generator.cluster(PLAN_NODES, PLAN_PODS, rejecting=0.1, attracted=0.15)
    return cluster, generator.replica_sets()


def returning_plan(seed: int) -> tuple[Cluster, Sequence[Step]]:
    cluster, sets = draw_sets(seed)
    return returning(cluster, sets), witness(snapshot(cluster, controllers=sets))


def returning(cluster: Cluster, sets: Sequence[Manifest]) -> Cluster:
    templates = {each["metadata"]["namespace"]: each["spec"]["template"]["spec"] for each in sets}
    return replace(cluster, returning=[larger(pod, templates[pod["metadata"]["namespace"]]) for pod in cluster.pods])


def larger(pod: Manifest, template: Manifest) -> Manifest:
    asked: Manifest = template["containers"][0]["resources"]["requests"]
    first, *others = pod["spec"]["containers"]
    own: Manifest = first["resources"]["requests"]
    names_ = own | asked
    most = {name: max((own.get(name, "0"), asked.get(name, "0")), key=partial(units, name)) for name in names_}
    containers = [first | {"resources": first["resources"] | {"requests": most}}, *others]
    return pod | {"spec": pod["spec"] | {"containers": containers}}


def replays(cluster: Cluster, steps: Sequence[Step]) -> list[tuple[Cluster, Sequence[Question]]]:
    """Return the plan four times: its nodes stand cordoned or are gone before the next one, its pods leave one after
    another or all of a node at once."""
    return [
        (cluster, replay(cluster, steps, gone=gone, at_once=each)) for gone in (False, True) for each in (False, True)
    ]


def replay(cluster: Cluster, steps: Sequence[Step], *, gone: bool, at_once: bool) -> Sequence[Question]:
    """Return the moves in the order of the proof; at the end all that has moved is asked again where it lies.

    Affinity is not: it is ignored during execution, and whom a pod followed may have moved on.
    The claims of ephemeral volumes went with the pods that were evicted: new ones stand there without a volume.
    """
    pods = {key(pod): replacement(pod) for pod in cluster.returning or cluster.pods}
    asked, lies = list[Question](), dict[str, str]()
    taken = [step.node for step in steps]
    for place, step in enumerate(steps, start=1):
        now = Question({}, cordon=taken[:place], taints=TAKEN, gone=taken[: place - 1] if gone else [])
        moved = {pod: replace(now, pod=pods[pod], claims=made_for(pods[pod])) for pod, _ in step.moves}
        asked += [moved[pod] for pod, _ in step.moves if at_once]
        asked += [replace(moved[pod], bind=target) for pod, target in step.moves]
        lies |= step.moves
    still = [pod for pod in lies if "podAffinity" not in pods[pod]["spec"].get("affinity", {})]
    end = Question({}, cordon=taken, taints=TAKEN, gone=taken if gone else [])
    return asked + [replace(end, pod=pods[pod], bind=lies[pod]) for pod in still]


def figures(taken: int, refused: Counter[str], cautious: Counter[str]) -> list[str]:
    return [
        f"{CLUSTERS * ASKED} pods x {NODES} nodes: the filters allow {taken} pairs, Ebb {cautious.total()} fewer",
        f"refused: {', '.join(f'{plugin} {count}' for plugin, count in refused.most_common())}",
        *(f"{kind} {count}: {CAUTIONS.get(kind, 'nobody knows why')}" for kind, count in cautious.most_common()),
    ]
