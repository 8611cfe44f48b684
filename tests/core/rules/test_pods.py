from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.pod import Phase, Pod, Volume
from shared.core.cluster.selectors import NodeTerm, Requirement, Toleration
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import DrainSettings, Jobs, KubeSystemPods, LongGrace, PoolPolicy
from shared.core.reasons import PodBlock
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pods import judge, movable
from tests.builders import NOW, pdb, pod
from tests.depth import cases

SAFE = {names.SAFE_TO_EVICT: "true"}
SCRATCH = (Volume("scratch", "emptyDir"),)
ON_N1 = NodeTerm(fields=(Requirement("metadata.name", "In", ("n1",)),))


def context(*budgets: PodDisruptionBudget, **policy: Any) -> DrainContext:
    return DrainContext(budgets, PoolPolicy(**policy), NOW)


def blocks(subject: Pod, *budgets: PodDisruptionBudget, **policy: Any) -> list[PodBlock]:
    reasons = [blocker.reason for blocker in judge(subject, context(*budgets, **policy))]
    return [reason for reason in reasons if isinstance(reason, PodBlock)]


@pytest.mark.acceptance(40, 87)
def test_daemon_mirror_and_finished_pods_neither_block_nor_move() -> None:
    left = (
        pod("agent", owner="DaemonSet/agent", annotations={names.SAFE_TO_EVICT: "false"}, volumes=SCRATCH),
        pod("proxy", owner="Node/n1", annotations={names.MIRROR: "x"}, volumes=SCRATCH),
        pod("batch", owner=None, phase=Phase.SUCCEEDED),
    )
    web = pod("web")
    assert [judge(row, context(pdb("all", allowed=0))) for row in left] == [(), (), ()]
    assert movable((*left, web), NOW) == (web,)


@pytest.mark.acceptance(37)
@cases(
    "expected, subject",
    ("an ordinary pod", [PodBlock.NOT_SAFE_TO_EVICT], {}),
    ("a kube-system pod", [PodBlock.NOT_SAFE_TO_EVICT], {"namespace": "kube-system"}),
    ("a bare pod", [PodBlock.NOT_SAFE_TO_EVICT, PodBlock.NOT_REPLICATED], {"owner": None}),
    ("not a DaemonSet's: it goes with its node", [], {"owner": "DaemonSet/agent"}),
)
def test_safe_to_evict_false_blocks_every_pod_that_would_have_to_move(
    expected: list[PodBlock], subject: dict[str, Any]
) -> None:
    """Unlike estafette, and like the autoscaler, whose rule for DaemonSets comes first."""
    assert blocks(pod("p", annotations={names.SAFE_TO_EVICT: "false"}, **subject)) == expected


@pytest.mark.acceptance(38)
@cases(
    "expected, subject",
    ("emptyDir", [PodBlock.LOCAL_STORAGE], pod("p", volumes=SCRATCH)),
    ("hostPath", [PodBlock.LOCAL_STORAGE], pod("p", volumes=(Volume("v", "hostPath"),))),
    ("emptyDir, safe to evict", [], pod("p", volumes=SCRATCH, annotations=SAFE)),
    ("hostPath, safe to evict", [], pod("p", volumes=(Volume("v", "hostPath"),), annotations=SAFE)),
    ("memory is no local storage", [], pod("p", volumes=(Volume("v", "emptyDir", "Memory"),))),
    ("kube-system's scratch space", [], pod("p", volumes=SCRATCH, namespace="kube-system")),
    ("listed as safe", [], pod("p", volumes=SCRATCH, annotations={names.SAFE_LOCAL_VOLUMES: "cache,scratch"})),
    ("a list with blanks does not count, as for the autoscaler", [PodBlock.LOCAL_STORAGE],
     pod("p", volumes=SCRATCH, annotations={names.SAFE_LOCAL_VOLUMES: "cache, scratch"})),
)  # fmt: skip
def test_local_storage_blocks_unless_declared_safe(expected: list[PodBlock], subject: Pod) -> None:
    assert blocks(subject) == expected


@pytest.mark.acceptance(39)
@cases(
    "expected, owner",
    ("no controller", [PodBlock.NOT_REPLICATED], None),
    ("a custom controller", [PodBlock.NOT_REPLICATED], "Sparkle/x"),
    ("ReplicationController", [], "ReplicationController/x"),
    ("Job", [], "Job/x"),
    ("ReplicaSet", [], "ReplicaSet/x"),
    ("StatefulSet", [], "StatefulSet/x"),
)
@pytest.mark.parametrize("annotations", [{}, SAFE], ids=["plain", "even safe to evict"])
def test_only_replicated_pods_move(expected: list[PodBlock], owner: str | None, annotations: dict[str, str]) -> None:
    assert blocks(pod("p", owner=owner, annotations=annotations), jobs=Jobs.MOVE) == expected


@pytest.mark.acceptance(88)
@cases(
    "expected, option, subject",
    ("left", [PodBlock.KUBE_SYSTEM], KubeSystemPods.LEAVE, pod("p", namespace="kube-system")),
    ("evicted", [], KubeSystemPods.EVICT, pod("p", namespace="kube-system")),
    ("left, but safe to evict", [], KubeSystemPods.LEAVE, pod("p", namespace="kube-system", annotations=SAFE)),
    ("DaemonSets are skipped", [], KubeSystemPods.LEAVE, pod("p", namespace="kube-system", owner="DaemonSet/x")),
)
def test_kube_system_pods_follow_the_option(expected: list[PodBlock], option: KubeSystemPods, subject: Pod) -> None:
    assert blocks(subject, kube_system_pods=option) == expected


@pytest.mark.acceptance(46)
@cases(
    "expected, subject, budgets",
    ("one disruption allowed", [], pod("p"), [pdb("web", allowed=1)]),
    ("none allowed", [PodBlock.PDB_EXHAUSTED], pod("p"), [pdb("web", allowed=0)]),
    ("though safe", [PodBlock.PDB_EXHAUSTED], pod("p", annotations=SAFE), [pdb("web", allowed=0)]),
    ("of another namespace", [], pod("p"), [pdb("web", allowed=0, namespace="other")]),
    ("of another app", [], pod("p"), [pdb("db", allowed=0, app="db")]),
    ("more than one matches", [PodBlock.SEVERAL_PDBS], pod("p"), [pdb("a"), pdb("b")]),
)
def test_an_exhausted_pdb_blocks_before_the_cordon(
    expected: list[PodBlock], subject: Pod, budgets: list[PodDisruptionBudget]
) -> None:
    assert blocks(subject, *budgets) == expected


@cases(
    "expected, spec",
    ("tolerates all", PodBlock.TOLERATES_DRAIN_TAINT, {"tolerations": (Toleration("", "Exists"),)}),
    ("tolerates our taint", PodBlock.TOLERATES_DRAIN_TAINT,
     {"tolerations": (Toleration(names.OUR_TAINT, "Exists", effect="NoSchedule"),)}),
    ("selects its host", PodBlock.NAMES_ITS_NODE, {"node_selector": {names.HOSTNAME_LABEL: "n1"}}),
    ("asks for its node by name", PodBlock.NAMES_ITS_NODE, {"node_terms": (ON_N1,)}),
    ("a scheduler not modelled", PodBlock.FOREIGN_SCHEDULER, {"scheduler": "volcano"}),
    ("dynamic resources", PodBlock.RESOURCE_CLAIMS, {"resource_claims": ("gpu",)}),
    ("scheduling gates", PodBlock.SCHEDULING_GATES, {"scheduling_gates": ("quota",)}),
    ("a volume of a kind not known", PodBlock.VOLUMES, {"volumes": (Volume("d", "flexVolume"),)}),
)  # fmt: skip
def test_what_is_not_modelled_blocks_by_name(expected: PodBlock, spec: dict[str, Any]) -> None:
    assert blocks(pod("p", **spec)) == [expected]


@pytest.mark.parametrize(("expected", "adds"), [("", ()), ("tolerations of its template", ("tolerations",))])
def test_a_toleration_of_the_template_that_would_bring_the_pod_back_is_named_so(
    expected: str, adds: tuple[str, ...]
) -> None:
    (found,) = judge(pod("p", tolerations=(Toleration("", "Exists"),), template_adds=adds), context())

    assert (found.reason, found.detail) == (PodBlock.TOLERATES_DRAIN_TAINT, expected)


@cases(
    "expected, labels",
    ("closed", [PodBlock.NAMESPACE_CLOSED], {names.EVICTIONS_LABEL: "never"}),
    ("another word, as the API server compares it", [], {names.EVICTIONS_LABEL: "Never"}),
    ("open", [], {}),
)
def test_a_namespace_may_keep_its_pods(expected: list[PodBlock], labels: dict[str, str]) -> None:
    known = replace(context(), namespaces={"default": labels, "other": {names.EVICTIONS_LABEL: "never"}})

    assert [blocker.reason for blocker in judge(pod("p"), known)] == expected


@cases(
    "expected, responders",
    ("one", [(PodBlock.EVICTION_RESPONDERS, "a.com/mover")], ("a.com/mover",)),
    ("several", [(PodBlock.EVICTION_RESPONDERS, "a.com/x, b.com/y")], ("a.com/x", "b.com/y")),
    ("nobody", [], ()),
)
def test_a_pod_that_names_who_answers_for_its_eviction_keeps_its_node(
    expected: list[tuple[PodBlock, str]], responders: tuple[str, ...]
) -> None:
    found = judge(pod("p", eviction_responders=responders), context())

    assert [(blocker.reason, blocker.detail) for blocker in found] == expected


def test_all_blockers_are_kept_in_the_order_of_the_rules() -> None:
    subject = pod("p", owner=None, annotations={names.SAFE_TO_EVICT: "false"}, volumes=SCRATCH)
    found = judge(subject, context(pdb("web", allowed=0, app="web")))
    assert [blocker.reason.value for blocker in found] == [
        "not_safe_to_evict",
        "not_replicated",
        "local_storage",
        "pdb_exhausted",
    ]
    assert {blocker.object for blocker in found} == {"default/p"}


@pytest.mark.acceptance(85)
@cases(
    "expected, grace, most, policy",
    ("as much as the policy gives", [], 480, 480, {}),
    ("a second more", [PodBlock.GRACE_TOO_LONG], 481, 480, {}),
    ("kept by word", [PodBlock.GRACE_TOO_LONG], 3600, 480, {"long_grace": LongGrace.KEEP}),
    ("cut by word", [], 3600, 480, {"long_grace": LongGrace.CUT}),
    ("a policy that gives an hour", [], 3600, 3600, {}),
)
def test_a_pod_that_asks_for_more_grace_than_the_policy_gives_keeps_its_node(
    expected: list[PodBlock], grace: int, most: int, policy: dict[str, Any]
) -> None:
    known = replace(context(**policy), drain=DrainSettings(max_grace=timedelta(seconds=most)))

    found = judge(pod("p", grace_seconds=grace), known)
    assert [blocker.reason for blocker in found] == expected
    assert not found or found[0].detail == f"{grace} s of {most} s"


@cases(
    "expected, left",
    ("as long as a drain waits for it", [], timedelta(minutes=16, seconds=30)),
    ("a second longer", [PodBlock.STILL_TERMINATING], timedelta(minutes=16, seconds=31)),
)
def test_a_pod_that_was_given_longer_than_a_drain_lasts_keeps_its_node(
    expected: list[PodBlock], left: timedelta
) -> None:
    found = judge(pod("p", grace_seconds=480, deleting=NOW + left), context())

    assert [blocker.reason for blocker in found] == expected
    assert all(block.row.passes for block in expected)
