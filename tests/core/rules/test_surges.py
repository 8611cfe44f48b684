from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import LabelSelector, PodTerm, SpreadConstraint
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import DrainSettings, Limit, LongGrace, PoolPolicy, SingleReplicas
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pods import blockers
from shared.core.rules.surges import START, is_surged
from shared.core.rules.unmodelled import VolumeFacts
from tests.builders import NOW, mounts, pdb, persistent_volume, pod, storage, volume_claim
from tests.depth import cases

NAME = "default/Deployment/web"
DEPLOYMENT = Deployment(name=NAME, wanted=1, created=1, updated=1, available=1)
SURGE, MOVE, AVOID, NEVER = SingleReplicas.SURGE, SingleReplicas.MOVE, SingleReplicas.AVOID, SingleReplicas.NEVER
UNCOUNTED = pdb("uncounted", allowed=0, app="web", fault="no scale")
SHUT = pdb("shut", allowed=0, app="web", max_unavailable=Limit(count=0), expected_pods=1)


def web(wanted: int = 1, **changes: Any) -> Workload:
    """A Deployment at rest, with the API's default strategy."""
    counts = {"wanted": wanted, "created": wanted, "updated": wanted, "available": wanted}
    deployment = Deployment(name=NAME, **{**counts, **changes})
    return Workload(NAME, wanted, deployment.available, created=wanted, deployment=deployment)


def context(workload: Workload | None, setting: SingleReplicas = SURGE, **changes: Any) -> DrainContext:
    known = {"default/ReplicaSet/web": workload} if workload else {}
    plain = DrainContext((), PoolPolicy(single_replicas=setting, long_grace=LongGrace.CUT), NOW, known)
    return replace(plain, **changes)


def kept(given: DrainContext, *pods: Pod) -> list[str]:
    return [blocker.reason.value for blocker in blockers(pods or (pod("p"),), given)]


@cases(
    "expected, setting, workload, budgets",
    ("the policy asks", True, SURGE, web(), ()),
    ("both ask", True, SURGE, web(wish="true"), ()),
    ("the annotation asks", True, MOVE, web(wish="true"), ()),
    ("the annotation asks, the policy would go last", True, AVOID, web(wish="true"), ()),
    ("what cannot be read makes no gap", True, MOVE, web(wish="yes"), ()),
    ("the policy forbids", False, NEVER, web(wish="true"), ()),
    ("nobody asks", False, MOVE, web(), ()),
    ("the annotation forbids, and the policy makes a gap", False, MOVE, web(wish="false"), ()),
    ("the annotation forbids, and no gap is made", True, SURGE, web(wish="false"), ()),
    ("one of two", False, SURGE, web(2), ()),
    ("one of two that a budget never lets go", True, SURGE, web(2), (SHUT,)),
    ("one of two whose budget cannot count its pods", True, SURGE, web(2), (UNCOUNTED,)),
    ("one of two that a budget lets go", False, SURGE, web(2), (pdb("open", app="web"),)),
    ("a shut budget alone asks for nothing", False, MOVE, web(2), (SHUT,)),
    ("another kind is not moved either", True, SURGE, Workload("default/StatefulSet/web", 1, 1), ()),
    ("its budget keeps it", False, SURGE, Workload("default/StatefulSet/web", 2, 2), (SHUT,)),
    ("not known is not single", False, SURGE, None, ()),
)
def test_policy_and_annotation_show_what_is_moved_without_a_gap(
    expected: bool, setting: SingleReplicas, workload: Workload | None, budgets: tuple[Any, ...]
) -> None:
    assert is_surged(pod("p").spec, context(workload, setting, disruption_budgets=budgets)) is expected


def test_a_jobs_pod_is_the_jobs_settings_own() -> None:
    given = context(None, workloads={"default/Job/web": Workload("default/Job/web", 1)})

    assert not is_surged(pod("p", owner="Job/web").spec, given)


@cases(
    "expected, workload",
    ("the defaults", [], web()),
    ("one more, none less", [], web(max_surge=Limit(count=1), max_unavailable=Limit(count=0))),
    ("forbidden", ["surge_forbidden"], web(wish="false")),
    ("unreadable", ["surge_forbidden"], web(wish="yes")),
    ("Recreate", ["surge_impossible"], web(rolling_update=False)),
    ("no more than wanted", ["surge_impossible"], web(max_surge=Limit(count=0))),
    ("one may lack", ["surge_impossible"], web(max_unavailable=Limit(count=1))),
    ("paused", ["surge_impossible"], web(paused=True)),
    ("not available", ["surge_not_ready"], web(available=0)),
    ("in a rollout", ["rolling_out"], replace(web(), rolling=True)),
    ("no Deployment", ["surge_impossible"], Workload("default/StatefulSet/web", 1, 1)),
    ("the other replica lies elsewhere", ["surge_scattered"], replace(web(2))),
)
def test_what_cannot_surge_stays_with_its_reason(expected: list[str], workload: Workload) -> None:
    given = context(workload, disruption_budgets=(SHUT,))

    assert kept(given) == expected


@cases(
    "expected, workload, pods",
    ("all replicas on one node surge together", [], web(2), [pod("p"), pod("q")]),
    ("nobody cuts the grace of a pod that its controller ends", ["surge_impossible"], web(),
     [pod("p", grace_seconds=3600)]),
    ("nothing of the cluster's own is restarted", ["surge_impossible"], web(), [pod("p", namespace="kube-system")]),
    ("the settings of pods hold, too", ["not_safe_to_evict"], web(),
     [pod("p", annotations={names.SAFE_TO_EVICT: "false"})]),
)  # fmt: skip
def test_what_surges_is_kept_by(expected: list[str], workload: Workload, pods: list[Pod]) -> None:
    known = {any_pod.spec.workload: workload for any_pod in pods}

    assert kept(context(None, workloads=known, disruption_budgets=(SHUT,)), *pods) == expected


def test_each_deployment_is_counted_by_its_own_replicas() -> None:
    api = replace(web(), name="default/Deployment/api", deployment=replace(DEPLOYMENT, name="default/Deployment/api"))
    known = {"default/ReplicaSet/web": web(2), "default/ReplicaSet/api": api}
    given = context(None, workloads=known, disruption_budgets=(SHUT,))

    assert kept(given, pod("p"), pod("q", owner="ReplicaSet/api")) == ["surge_scattered"]


@cases(
    "expected, topology",
    ("apart from node to node", [], names.HOSTNAME_LABEL),
    ("apart from zone to zone", ["surge_impossible"], names.ZONE_LABEL),
)
def test_a_pod_that_keeps_its_own_kind_off_its_zone_finds_no_place_next_to_itself(
    expected: list[str], topology: str
) -> None:
    own = LabelSelector()
    apart = pod("p", anti_affinity=(PodTerm(topology, own, ("default",)),))
    spread = pod("p", hard_spread=(SpreadConstraint(topology, own),))

    assert [kept(context(web()), row) for row in (apart, spread)] == [expected, expected]


@cases(
    "expected, modes",
    ("one node at a time", ["surge_impossible"], ("ReadWriteOnce",)),
    ("one pod at a time", ["surge_impossible"], ("ReadWriteOncePod",)),
    ("many nodes", [], ("ReadWriteMany",)),
)
def test_a_disk_of_one_node_keeps_its_pod(expected: list[str], modes: tuple[str, ...]) -> None:
    disk = persistent_volume("pv-data", access_modes=modes)
    facts = VolumeFacts(storage(volume_claim("data", access_modes=modes), disk), {})

    assert kept(context(web(), volumes=facts), pod("p", volumes=mounts("data"))) == expected


@cases(
    "expected, workload",
    ("its quota is used up", ["surge_impossible"], web()),
    ("its Deployment waits, but not for those that surge", [], replace(web(), replaced_at_end=True)),
)
def test_a_namespace_without_room_for_one_more_keeps_its_pod(expected: list[str], workload: Workload) -> None:
    assert kept(context(workload), pod("p", replaced_at_end=True)) == expected


@cases("expected, short", ("a drain has time for it", [], 1), ("it has not", ["surge_impossible"], 0))
def test_a_deployment_that_waits_as_long_as_a_drain_lasts_is_not_restarted(expected: list[str], short: int) -> None:
    waits = DrainSettings().timeout - START - timedelta(seconds=short)

    assert kept(context(web(min_ready=waits)), pod("p")) == expected
