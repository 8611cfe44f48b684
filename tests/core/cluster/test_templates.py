from dataclasses import fields, replace
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.cluster.pod import CLAIM, EPHEMERAL, HostPort, PodClass, Volume
from shared.core.cluster.returning import as_they_return
from shared.core.cluster.selectors import LabelSelector, NodeTerm, PodTerm, Requirement, SpreadConstraint, Toleration
from shared.core.cluster.workloads import Revisions, Workload
from tests.builders import mounts, pod, pod_class, pod_template, resources
from tests.depth import cases

SET = "default/ReplicaSet/web"


def term(app: str, key: str = names.HOSTNAME_LABEL) -> PodTerm:
    return PodTerm(key, LabelSelector((Requirement("app", "In", (app,)),)), ("default",))


def nodes(key: str, *values: str) -> NodeTerm:
    return NodeTerm((Requirement(key, "In", values),))


def spread(*requirements: Requirement, **more: Any) -> SpreadConstraint:
    return SpreadConstraint(
        names.ZONE_LABEL, LabelSelector((Requirement("app", "In", ("web",)), *requirements)), **more
    )


def returning(spec: PodClass, *templates: PodClass, others: tuple[PodClass, ...] = (), **workload: Any) -> PodClass:
    """The class of a pod of that class, as it would come back."""
    known = {spec.workload: Workload(spec.workload, 1, templates=templates, **workload)}
    found = as_they_return([pod("p", on="n1", kind=spec), *(pod("q", on="n1", kind=other) for other in others)], known)
    return found[0].spec


GPU, SPOT = Toleration("nvidia.com/gpu", "Exists"), Toleration("spot", "Exists")
ANY = Toleration(operator="Exists")
NOT_READY = Toleration("node.kubernetes.io/not-ready", "Exists", effect="NoExecute")
CLAIM_A, CLAIM_B = mounts("a")[0], Volume("data", CLAIM, "b")
SCRATCH = Volume("scratch", EPHEMERAL, "", "standard-rwo")
MERGED = Requirement("pod-template-hash", "In", ("5d4f",))
BY_RING, RING = spread(match_label_keys=("ring",)), {"app": "web", "ring": "1"}
DISK_OR_SSD = (nodes("disk", "ssd"), nodes("disk", "hdd"))
ADDED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = {
    "a node by name": ({"node_name": "n7"}, {}, {"node_name": "n7"}, "nodeName"),
    "a selector": ({"node_selector": {"a": "1", "b": "2"}}, {"node_selector": {"a": "1"}},
                   {"node_selector": {"b": "2"}}, "nodeSelector"),
    "another value of a selector": (
        {"node_selector": {"a": "1"}, "node_terms": (nodes("a", "2"),)}, {"node_selector": {"a": "1"}},
        {"node_selector": {"a": "2"}}, "nodeSelector"),
    "node affinity": ({"node_terms": DISK_OR_SSD}, {}, {"node_terms": DISK_OR_SSD}, "affinity"),
    "another node affinity": (
        {"node_terms": (NodeTerm((*nodes("a", "1").expressions, *nodes("b", "2").expressions)),)},
        {"node_terms": (nodes("a", "1"), NodeTerm())}, {"node_terms": (nodes("b", "2"),)}, "affinity"),
    "affinity": ({"affinity": (term("db"),)}, {}, {"affinity": (term("db"),)}, "affinity"),
    "another anti-affinity": ({"anti_affinity": (term("db"), term("web"))}, {"anti_affinity": (term("db"),)},
                              {"anti_affinity": (term("web"),)}, "affinity"),
    "a spread": ({"hard_spread": (spread(),)}, {}, {"hard_spread": (spread(),)}, "topologySpreadConstraints"),
    "a narrower spread": ({"hard_spread": (spread(max_skew=5), spread())}, {"hard_spread": (spread(max_skew=5),)},
                          {"hard_spread": (spread(),)}, "topologySpreadConstraints"),
    "one of two spreads": (
        {"hard_spread": (BY_RING, spread(max_skew=5))}, {"labels": RING, "hard_spread": (BY_RING,)},
        {"labels": RING, "hard_spread": (spread(max_skew=5), BY_RING)}, "topologySpreadConstraints"),
    "a host port": ({"host_ports": (HostPort("TCP", 80),)}, {}, {"host_ports": (HostPort("TCP", 80),)}, "ports"),
    "a claim": ({"volumes": (CLAIM_A,)}, {}, {"volumes": (CLAIM_A,)}, "volumes"),
    "another claim under the same name": ({"volumes": (Volume("data", CLAIM, "a"), CLAIM_B)},
                                          {"volumes": (Volume("data", CLAIM, "a"),)}, {"volumes": (CLAIM_B,)},
                                          "volumes"),
    "a volume that is made for it": ({"volumes": (SCRATCH,)}, {}, {"volumes": (SCRATCH,)}, "volumes"),
    "another scheduler": ({"scheduler": "mine"}, {}, {"scheduler": "mine"}, "schedulerName"),
    "an operating system": ({"os": "windows"}, {}, {"os": "windows"}, "os"),
    "gates": ({"scheduling_gates": ("hold",)}, {}, {"scheduling_gates": ("hold",)}, "schedulingGates"),
    "a resource claim": ({"resource_claims": ("gpu",)}, {}, {"resource_claims": ("gpu",)}, "resourceClaims"),
    "a toleration of every taint": ({"tolerations": (SPOT, ANY)}, {"tolerations": (SPOT,)},
                                    {"tolerations": (SPOT, ANY)}, "tolerations"),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "own", "template", "field"), ADDED.values(), ids=ADDED)
@cases("fixed", ("of a Deployment", True), ("by itself", False))
def test_what_the_template_alone_has_counts_for_the_next_pod(
    expected: dict[str, Any], own: dict[str, Any], template: dict[str, Any], field: str, *, fixed: bool
) -> None:
    found = returning(pod_class(**own), pod_template(**template), fixed_template=fixed)

    assert {name: getattr(found, name) for name in expected} == expected
    assert found.template_adds == (field,)


@cases(
    "own, template",
    ("nothing", {}, {}),
    ("what the API server adds to all tolerations", {"tolerations": (NOT_READY,)}, {}),
    ("a toleration for the resource that it requests",
     {"tolerations": (GPU,), "requests": resources(0.1, 0.1, **{"nvidia.com/gpu": 1})}, {}),
    ("selectors", {"node_selector": {"gke": "1"}, "node_terms": DISK_OR_SSD}, {}),
    ("an expression in each of its terms",
     {"node_terms": tuple(NodeTerm((*row.expressions, Requirement("os", "In", ("linux",)))) for row in DISK_OR_SSD)},
     {"node_terms": DISK_OR_SSD}),
    ("other rules",
     {"affinity": (term("a"),), "anti_affinity": (term("a"),), "hard_spread": (spread(),),
      "host_ports": (HostPort("TCP", 80),), "volumes": (CLAIM_A,), "resource_claims": ("gpu",)},
     {}),
    ("GKE's scheduler", {"scheduler": "gke.io/optimize-utilization-scheduler"}, {}),
    ("a scheduler of somebody's own", {"scheduler": "mine"}, {}),
    ("a RuntimeClass", {"runtime_class": "gvisor"}, {}),
    ("an operating system", {"os": "linux"}, {}),
    ("no more than its RuntimeClass", {"runtime_class": "gvisor"}, {"runtime_class": "gvisor"}),
    ("the default priority", {"priority_class": "high"}, {}),
    ("a label that no rule selects", {"labels": {"app": "web", "mesh": "on"}}, {}),
    ("less: a toleration that the pod has not", {}, {"tolerations": (SPOT,)}),
    ("less: volumes that any node mounts", {}, {"volumes": (Volume("cache", "emptyDir"), Volume("c", "configMap"))}),
    ("the claim made for it", {"volumes": mounts("data")}, {"volumes": (Volume("data", CLAIM),)}),
    ("matchLabelKeys, which the API server has written into the selector",
     {"hard_spread": (spread(MERGED, match_label_keys=("pod-template-hash",)),),
      "labels": {"app": "web", "pod-template-hash": "5d4f"}},
     {"hard_spread": (spread(match_label_keys=("pod-template-hash",)),)}),
)  # fmt: skip
@cases("fixed", ("of a Deployment", True), ("by itself", False))
def test_a_pod_with_all_that_its_template_has_and_more_comes_back_as_it_is(
    own: dict[str, Any], template: dict[str, Any], *, fixed: bool
) -> None:
    spec = pod_class(**own)

    assert returning(spec, pod_template(**template), fixed_template=fixed) is spec


@cases(
    "expected, tolerations, templates, fixed",
    ("of the template that made it: admission added it", (SPOT,), (SPOT,), [()], True),
    ("of one that anybody may edit: it may have been removed", (), (SPOT,), [()], False),
    ("which the template still has", (SPOT,), (SPOT,), [(SPOT, GPU)], False),
    ("which the next template no longer has", (), (SPOT,), [(SPOT,), ()], True),
    ("which the next template never had", (SPOT,), (SPOT, GPU), [(GPU,), ()], True),
)
def test_a_toleration_counts_only_where_the_next_pod_has_it_for_sure(
    expected: tuple[Toleration, ...],
    tolerations: tuple[Toleration, ...],
    templates: list[tuple[Toleration, ...]],
    *,
    fixed: bool,
) -> None:
    made = [pod_template(tolerations=template) for template in templates]

    assert returning(pod_class(tolerations=tolerations), *made, fixed_template=fixed).tolerations == expected


TIER = {"app": "web", "tier": "gold"}
BY_TIER = LabelSelector((Requirement("tier", "Exists"),))
CHANGED = "label tier of its template, which rules select"


@cases(
    "expected, others",
    ("none", (), {"affinity": (term("web"),)}),
    ("affinity", (CHANGED,), {"affinity": (PodTerm("z", BY_TIER, ("default",)),)}),
    ("anti-affinity", (CHANGED,), {"anti_affinity": (PodTerm("z", BY_TIER, ("default",)),)}),
    ("a spread", (CHANGED,), {"hard_spread": (SpreadConstraint("z", BY_TIER),)}),
    ("matchLabelKeys", (CHANGED,), {"hard_spread": (spread(match_label_keys=("tier",)),)}),
)
@cases(
    "own, template, fixed",
    ("a label that it gets", {}, TIER, True),
    ("a label that changes", {**TIER, "tier": "tin"}, TIER, True),
    ("a label that it may lose", TIER, {"app": "web"}, False),
)
def test_labels_that_change_keep_a_pod_where_rules_select_by_them(
    expected: tuple[str, ...], others: dict[str, Any], own: dict[str, str], template: dict[str, str], *, fixed: bool
) -> None:
    spec = pod_class(labels={"app": "web", **own})
    found = returning(spec, pod_template(labels=template), others=(pod_class(**others),), fixed_template=fixed)

    assert found.unmodelled == expected


def test_a_rule_of_the_template_itself_selects_labels_too() -> None:
    apart = (PodTerm("z", BY_TIER, ("default",)),)

    assert returning(pod_class(), pod_template(labels=TIER, anti_affinity=apart)).unmodelled == (CHANGED,)


@pytest.mark.parametrize(
    "label", [names.POD_INDEX_LABEL, names.POD_NAME_LABEL, names.REVISION_LABEL, names.TEMPLATE_HASH_LABEL]
)
def test_labels_that_controllers_add_are_not_lost(label: str) -> None:
    by_it = (spread(match_label_keys=(label,)),)
    spec = pod_class(labels={"app": "web", label: "0"}, hard_spread=by_it)

    assert returning(spec, pod_template(hard_spread=by_it)) is spec


OTHER_NODES = "topologySpreadConstraints over other nodes than those of its template"


@cases(
    "expected, own, template, policies",
    ("the same", (), {"node_selector": {"a": "1"}}, {"node_selector": {"a": "1"}}, {}),
    ("fewer", (), {}, {"node_selector": {"a": "1"}}, {}),
    ("more, without a selector", (OTHER_NODES,), {"node_selector": {"a": "1"}}, {}, {}),
    ("more, without an affinity", (OTHER_NODES,), {"node_terms": DISK_OR_SSD}, {}, {}),
    ("of any selector", (), {"node_selector": {"a": "1"}}, {}, {"honours_affinity": False}),
    ("of any taint", (), {}, {"tolerations": (SPOT,)}, {}),
    ("more, with taints", (OTHER_NODES,), {}, {"tolerations": (SPOT,)}, {"honours_taints": True}),
    ("by the API server's own", (), {"tolerations": (NOT_READY,)}, {}, {"honours_taints": True}),
)
def test_a_spread_over_more_domains_than_the_pod_shows_keeps_it(
    expected: tuple[str, ...], own: dict[str, Any], template: dict[str, Any], policies: dict[str, bool]
) -> None:
    """One more domain can be the emptiest, and close the fuller ones."""
    even = (spread(**policies),)
    spec, made = pod_class(hard_spread=even, **own), pod_template(hard_spread=even, **template)

    assert returning(spec, made).unmodelled == expected
    assert returning(spec, made, fixed_template=True).unmodelled == (), "made of this very template"


@pytest.mark.parametrize("own", [{"node_selector": {"a": "1"}}, {"labels": {"app": "web", "tier": "gold"}}])
def test_what_admission_added_is_not_lost_by_the_next_template_of_a_deployment(own: dict[str, Any]) -> None:
    by_tier = pod_class(hard_spread=(SpreadConstraint("z", BY_TIER),))
    spec, template = pod_class(**{"hard_spread": (spread(),), **own}), pod_template(hard_spread=(spread(),))
    newest = replace(template, host_ports=(HostPort("TCP", 80),))
    found = returning(spec, template, newest, others=(by_tier,), fixed_template=True)

    assert (found.unmodelled, found.template_adds) == ((), ("ports",))


def test_another_runtime_class_brings_rules_that_nobody_reads() -> None:
    found = returning(pod_class(runtime_class="kata"), pod_template(runtime_class="gvisor"))

    assert found.unmodelled == ("runtimeClassName gvisor of its template",)


def test_no_node_runs_a_pod_of_one_operating_system_and_its_template_of_another() -> None:
    found = returning(pod_class(os="linux"), pod_template(os="windows"))

    assert (found.os, found.unmodelled) == ("linux", ("os windows of its template",))


def test_what_is_not_modelled_in_the_template_keeps_the_pod() -> None:
    assert returning(pod_class(unmodelled=("x",)), pod_template(unmodelled=("y", "x"))).unmodelled == ("x", "y")


def stateful(revision: str = "old", ordinal: int = 0, **labels: str) -> PodClass:
    own = {names.REVISION_LABEL: revision, names.POD_NAME_LABEL: f"db-{ordinal}", **labels}
    return pod_class(owner="StatefulSet/db", labels={"app": "db", **own}, tolerations=(SPOT,))


UNREAD = ("revision old, which is not read",)


@cases(
    "selector, tolerations, unmodelled, spec, revisions",
    ("of the newest: as its template", True, (SPOT,), (), stateful("new"), Revisions("old", "new")),
    ("of the old one: as the newest", True, (), (), stateful("old"), Revisions("old", "new")),
    ("without an update", True, (SPOT,), (), stateful("old"), Revisions("old", "old")),
    ("without any revision", True, (), (), stateful(""), Revisions()),
    ("below the partition", False, (SPOT,), (), stateful("old"), Revisions("old", "new", 1)),
    ("below, without its own", False, (SPOT,), (), stateful(""), Revisions("old", "new", 1)),
    ("below the partition, though it is of the newest", False, (SPOT,), UNREAD, stateful("new"),
     Revisions("old", "new", 1)),
    ("below the partition, of a third", False, (SPOT,), UNREAD, stateful("older"), Revisions("old", "new", 1)),
    ("just not below the partition", True, (), (), stateful("old", 1), Revisions("old", "new", 1)),
    ("by its index, whatever its name is", False, (SPOT,), (), stateful("old", 7, **{names.POD_INDEX_LABEL: "0"}),
     Revisions("old", "new", 1)),
    ("all below, without an update", True, (SPOT,), (), stateful("old"), Revisions("old", "old", 9)),
)  # fmt: skip
def test_a_stateful_set_makes_each_pod_of_the_revision_that_its_strategy_names(
    selector: bool,
    tolerations: tuple[Toleration, ...],
    unmodelled: tuple[str, ...],
    spec: PodClass,
    revisions: Revisions,
) -> None:
    labels = {"app": "db", **({names.REVISION_LABEL: revisions.update} if revisions.update else {})}
    found = returning(spec, pod_template(labels=labels, node_selector={"a": "1"}), revisions=revisions)

    assert bool(found.node_selector) is selector
    assert (found.tolerations, found.unmodelled) == (tolerations, unmodelled)


def test_a_pod_below_the_partition_requests_what_it_has() -> None:
    spec, larger = stateful("old"), pod_template(labels={"app": "db"})
    larger = replace(larger, asks=pod_template().asks)

    assert returning(spec, larger, revisions=Revisions("old", "new", 1)) is spec


@cases(
    "expected, own",
    ("which the pod has under that name", (), (Volume("data", CLAIM, "whatever"),)),
    ("in place of another", (Volume("data", CLAIM, "data-db-0"),), (Volume("data", "emptyDir"),)),
)
def test_the_claim_that_a_stateful_set_makes_is_named_after_its_pod(
    expected: tuple[Volume, ...], own: tuple[Volume, ...]
) -> None:
    spec = replace(stateful("old"), volumes=own)
    found = returning(spec, pod_template(labels={"app": "db"}, volumes=(Volume("data", CLAIM),)))

    assert found.volumes == (*own, *expected)


@pytest.mark.parametrize(("own", "template", "field"), [pytest.param(*row[1:], id=name) for name, row in ADDED.items()])
def test_joined_twice_is_as_good_as_once(own: dict[str, Any], template: dict[str, Any], field: str) -> None:
    del field
    made = pod_template(**template)
    once = returning(pod_class(**own), made)

    assert returning(once, made) is once


JOINED = {
    "node_name", "node_selector", "os", "node_terms", "tolerations", "affinity", "anti_affinity", "hard_spread",
    "host_ports", "volumes", "scheduler", "scheduling_gates", "resource_claims", "unmodelled", "runtime_class",
    "labels", "asks", "priority_class",
}  # fmt: skip
"""What of a template counts for the next pod."""
LEFT_OUT = {
    "namespace": "the workload's own", "owner": "same",
    "annotations": "about evictions of the next pod", "eviction_responders": "same", "grace_seconds": "same",
    "restart_policy": "places nothing", "priority": "no template has the number",
    "requests": "summed of asks", "raised_by": "an answer", "refused_by": "an answer", "replaced_at_end": "an answer",
    "template_adds": "an answer", "needs_kubelet": "of the node under the pod",
}  # fmt: skip


def test_every_part_of_a_class_counts_as_part_of_a_template_or_has_a_reason_not_to() -> None:
    assert {field.name for field in fields(PodClass) if field.init} == JOINED | LEFT_OUT.keys()
