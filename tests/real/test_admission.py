"""With `infra/admission.yaml` the drainer may do nothing to a node but drain and return it; asked as dry runs."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from shared.core.cluster.names import EVICTIONS_LABEL, HELD_TAINT, OUR_ANNOTATION, OUR_TAINT
from tests.depth import cases
from tests.real.conftest import Corner
from tests.real.control_plane import MERGE_PATCH, ControlPlane
from tests.real.least_rights import filled_fields, user
from tests.real.waiting import until

pytestmark = pytest.mark.control_plane
Raw = dict[str, Any]
DRAINER = user("drainer")
OURS: Mapping[str, str] = {"key": OUR_TAINT, "value": "order", "effect": "NoSchedule"}
FOREIGN: Mapping[str, str] = {"key": "example.com/keep", "effect": "NoSchedule"}
RECORD = {OUR_ANNOTATION: '{"order_id":"order"}'}
FREE, HELD, TAINT_ONLY, UNCORDONED, BY_A_PERSON = "free", "held", "held by its taint", "held, uncordoned", "by a person"
SOFT, MADE_HARD = "held softly", "held, and its soft taint made hard by a person"
TIMED, FULL = "held, and a person timed its taints", "free, and full of who wrote which field"
NETWORK = {"podCIDR": "10.9.0.0/24", "podCIDRs": ["10.9.0.0/24"]}
YEAR_2099 = "2099-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def plane(twenty_nodes: ControlPlane, kubeconfigs: Mapping[str, Path]) -> ControlPlane:
    assert kubeconfigs
    name = twenty_nodes.api.nodes()[-1]["metadata"]["name"]
    labelled = {"metadata": {"labels": {"a": "b"}}}
    until("the policy on nodes", lambda: "labels" in refusal(twenty_nodes, name, lambda _: labelled))
    until("the policy on events", lambda: "on nodes only" in _tried(twenty_nodes, EVENTS, event(kind="Pod")))
    return twenty_nodes


@pytest.fixture
def node(plane: ControlPlane) -> Iterator[str]:
    name = plane.api.nodes()[-1]["metadata"]["name"]
    yield name
    _bring(plane, name, FREE)


def _bring(plane: ControlPlane, name: str, wanted: str) -> None:
    until(f"a node {wanted}", lambda: plane.api.patch(path_of(name), _state(plane, name, wanted)))


def _state(plane: ControlPlane, name: str, wanted: str) -> Raw:
    taints = [
        taint for taint in taints_of(read(plane, name)) if taint["key"] not in {OUR_TAINT, HELD_TAINT, FOREIGN["key"]}
    ]
    effects = {SOFT: "PreferNoSchedule", TIMED: "PreferNoSchedule", MADE_HARD: "NoSchedule"}
    time = {"timeAdded": YEAR_2099} if wanted == TIMED else {}
    softly = [{"key": HELD_TAINT, "effect": effects[wanted], **time}] if wanted in effects else []
    held = wanted in {HELD, TAINT_ONLY, UNCORDONED, MADE_HARD, TIMED}
    return {
        "metadata": {
            **(filled_fields("v1", *"abcdef")["metadata"] if wanted == FULL else {"managedFields": [{}]}),
            "annotations": {OUR_ANNOTATION: RECORD[OUR_ANNOTATION] if held and wanted != TAINT_ONLY else None},
            "labels": {"example.com/team": "a"},
        },
        "spec": {
            "unschedulable": wanted in {HELD, TAINT_ONLY, BY_A_PERSON, MADE_HARD, TIMED},
            "taints": [*taints, dict(FOREIGN), *softly, *([{**OURS, **time}] if held else [])],
        },
    }


def path_of(name: str) -> str:
    return f"/api/v1/nodes/{name}"


def read(plane: ControlPlane, name: str) -> Raw:
    return plane.api.request("GET", path_of(name)).body


def taints_of(raw: Raw) -> list[Raw]:
    return list(raw["spec"].get("taints") or [])


def refusal(plane: ControlPlane, name: str, change: Callable[[Raw], Raw]) -> str:
    def attempt() -> str | None:
        raw = read(plane, name)
        patch = change(raw)
        version = {"resourceVersion": raw["metadata"]["resourceVersion"], **patch.get("metadata", {})}
        body, path = {**patch, "metadata": version}, f"{path_of(name)}?dryRun=All"
        said = plane.api.refusal("PATCH", path, body, MERGE_PATCH, DRAINER)
        return None if "the object has been modified" in said else said or "granted"

    said = until("an answer without a conflict", attempt)
    return "" if said == "granted" else said


def with_taints(change: Callable[[list[Raw]], list[Raw]], **spec: Any) -> Callable[[Raw], Raw]:
    return lambda raw: {"spec": {**spec, "taints": change(taints_of(raw))}}


def without(key: str) -> Callable[[list[Raw]], list[Raw]]:
    return lambda taints: [taint for taint in taints if taint["key"] != key]


def annotated(patch: Callable[[Raw], Raw], record: str | None) -> Callable[[Raw], Raw]:
    return lambda raw: {**patch(raw), "metadata": {"annotations": {OUR_ANNOTATION: record}}}


def our(effect: str, **more: str) -> Callable[[list[Raw]], list[Raw]]:
    return lambda taints: [*without(OUR_TAINT)(taints), {**OURS, "effect": effect, **more}]


def soft(*effects: str, **more: str) -> Callable[[Raw], Raw]:
    ours = [{"key": HELD_TAINT, "effect": effect, **more} for effect in effects]
    return with_taints(lambda taints: [*without(HELD_TAINT)(taints), *ours])


NOT_ITS_OWN = "a taint that is not its own"
SOFT_ONLY = "the effect PreferNoSchedule"
OWN_NOTE = "no annotation but its own"
TOGETHER = "cordons a node together with its taint"
SOMEBODYS = "may not mark a node that somebody else cordoned"
WITH_CORDON = "marks a node together with its cordon only"
CUT_OFF = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


def meta(**changes: Any) -> Callable[[Raw], Raw]:
    return lambda _: {"metadata": changes}


def spec(**changes: Any) -> Callable[[Raw], Raw]:
    return lambda _: {"spec": changes}


def fields(*managers: str) -> Callable[[Raw], Raw]:
    return lambda _: filled_fields("v1", *managers)


def without_notes(raw: Raw) -> Raw:
    return {"metadata": {"annotations": dict.fromkeys(raw["metadata"]["annotations"])}}


def added(*more: Raw) -> Callable[[list[Raw]], list[Raw]]:
    return lambda taints: [*taints, *more]


def revalued(taints: list[Raw]) -> list[Raw]:
    return [{**taint, "value": "other"} for taint in taints]


def taken(effect: str = "NoSchedule", **more: str) -> Callable[[Raw], Raw]:
    return with_taints(our(effect, **more), unschedulable=True)


MARK = annotated(lambda _: {}, RECORD[OUR_ANNOTATION])
TAKE = annotated(taken(), RECORD[OUR_ANNOTATION])
GIVE_BACK = annotated(with_taints(without(OUR_TAINT), unschedulable=False), None)
CASES: Mapping[str, tuple[str, str, Callable[[Raw], Raw]]] = {
    "take a node": ("", FREE, TAKE),
    "give a node back": ("", HELD, GIVE_BACK),
    "return after the autoscaler has uncordoned it": ("", UNCORDONED, GIVE_BACK),
    "return without the annotation": ("", TAINT_ONLY, GIVE_BACK),
    "forget who wrote which field": ("", FREE, meta(managedFields=[{}])),
    "a foreign taint that would end pods": (
        NOT_ITS_OWN, FREE, with_taints(added({"key": "x", "effect": "NoExecute"})),
    ),
    "a taint removed": (NOT_ITS_OWN, FREE, with_taints(without("example.com/keep"))),
    "a taint changed": (NOT_ITS_OWN, FREE, with_taints(revalued)),
    "our taint ends pods": ("with the effect NoSchedule", FREE, taken("NoExecute")),
    "our taint from years ahead": ("without a time", FREE, taken(timeAdded=YEAR_2099)),
    "let go of a node whose taints a person timed": ("", TIMED, soft()),
    "give back a node whose taints a person timed": ("", TIMED, GIVE_BACK),
    "hold a node softly": ("", FREE, soft("PreferNoSchedule")),
    "let a node go that is held softly": ("", SOFT, soft()),
    "take a node that is held softly": ("", SOFT, TAKE),
    "give back a node whose soft taint a person made hard": ("", MADE_HARD, GIVE_BACK),
    "let go of a node whose soft taint a person made hard": ("", MADE_HARD, soft()),
    "hold a node softly that a person cordoned": ("", BY_A_PERSON, soft("PreferNoSchedule")),
    "a soft taint that repels pods": (SOFT_ONLY, FREE, soft("NoSchedule")),
    "a soft taint that ends pods": (SOFT_ONLY, FREE, soft("NoExecute")),
    "a soft taint with a value": (SOFT_ONLY, FREE, soft("PreferNoSchedule", value="x" * 60)),
    "a soft taint from years ahead": (SOFT_ONLY, FREE, soft("PreferNoSchedule", timeAdded=YEAR_2099)),
    "two soft taints, one hard": (SOFT_ONLY, FREE, soft("PreferNoSchedule", "NoSchedule")),
    "a label added": ("change labels", FREE, meta(labels={"a": "b"})),
    "a label removed": ("change labels", FREE, meta(labels={"example.com/team": None})),
    "a generated name": ("other metadata", FREE, meta(generateName="x" * 200)),
    "who wrote which field, within bounds": ("", FREE, fields(*"abc")),
    "who wrote which field": ("fill managedFields", FREE, fields()),
    "who wrote which field, where it was full": ("", FULL, fields(*"abcdef")),
    "and one more": ("fill managedFields", FULL, fields(*"abcdefg")),
    "a network of its pods": ("cordon and its own taint only", FREE, spec(**NETWORK)),
    "a foreign annotation added": (OWN_NOTE, FREE, meta(annotations={CUT_OFF: "true"})),
    "foreign annotations removed": (OWN_NOTE, FREE, without_notes),
    "a finalizer": ("neither finalizers nor owners", FREE, meta(finalizers=["example.com/held"])),
    "a bare cordon": (TOGETHER, FREE, spec(unschedulable=True)),
    "its taint removed, by which a bare cordon would be left": (TOGETHER, HELD, with_taints(without(OUR_TAINT))),
    "a person's cordon undone": (
        "may not uncordon a node that it does not hold", BY_A_PERSON, spec(unschedulable=False),
    ),
    "a person's cordon taken over, to be undone in a second patch": (SOMEBODYS, BY_A_PERSON, TAKE),
    "a person's cordon taken over by the annotation alone": (SOMEBODYS, BY_A_PERSON, MARK),
    "an open node marked, so that a later cordon of a person could be undone": (WITH_CORDON, FREE, MARK),
    "an open node tainted without a cordon": (WITH_CORDON, FREE, with_taints(our("NoSchedule"))),
    "a node uncordoned that stays marked": (
        "uncordons a node only as it gives it back", HELD, spec(unschedulable=False),
    ),
    "an annotation that fills the node's object": ("at most 1024 characters", FREE, annotated(TAKE, "x" * 20_000)),
}  # fmt: skip


@cases(
    "said, options",
    ("by the pod's own grace", "", {}),
    ("within a second", "", {"gracePeriodSeconds": 1}),
    ("at once", "ends no pod at once", {"gracePeriodSeconds": 0}),
    ("without what depends on it", "orphan nothing", {"propagationPolicy": "Orphan"}),
    ("after all that depends on it", "orphan nothing", {"propagationPolicy": "Foreground"}),
    ("without what depends on it, in the older words", "orphan nothing", {"orphanDependents": True}),
    ("with all else that Ebb sends", "", {"dryRun": ["All"], "preconditions": {}}),
)
def test_the_drainer_ends_no_pod_at_once_and_leaves_nothing_of_it(
    plane: ControlPlane, ending: Callable[[Raw], str], said: str, options: Raw
) -> None:
    assert plane
    found = ending(options)

    assert (said in found) if said else found == "", found


@pytest.fixture(scope="module")
def ending(new_corner: Callable[[], Corner]) -> Callable[[Raw], str]:
    """Try, dry and as the drainer, to evict a pod with such options; return how it was refused, empty if it was not."""
    corner = new_corner()
    [pod] = corner.run("ending", replicas=1)

    def tried(options: Raw) -> str:
        return eviction_tried(corner, pod["metadata"]["name"], deleteOptions=options)

    until("the policy on evictions", lambda: "ends no pod at once" in tried({"gracePeriodSeconds": 0}))
    return tried


def eviction_tried(corner: Corner, name: str, **options: Raw) -> str:
    path = f"/api/v1/namespaces/{corner.namespace}/pods/{name}/eviction?dryRun=All"
    meta = {"name": name, "namespace": corner.namespace}
    return _tried(corner.plane, path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta, **options})


def _tried(plane: ControlPlane, path: str, body: Raw) -> str:
    return plane.api.refusal("POST", path, body, user=DRAINER)


EVENTS = "/api/v1/namespaces/default/events?dryRun=All"


def event(namespace: str = "default", kind: str = "Node", **changes: Any) -> Raw:
    involved = {"apiVersion": "v1", "kind": kind, "name": "n", "namespace": "" if kind == "Node" else namespace}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "n.", "namespace": namespace},
        "involvedObject": involved,
        "reason": "EbbCordoned",
        "source": {"component": "ebb"},
        **changes,
    }


def about(**changes: Any) -> Raw:
    body = event()
    return {**body, "involvedObject": {**body["involvedObject"], **changes}}


def named(**changes: Any) -> Raw:
    body = event()
    return {**body, "metadata": {**body["metadata"], **changes}}


@cases(
    "said, body",
    ("on a node, in its own name", "", event()),
    ("in another namespace", "on nodes only", event("kube-system", "Pod")),
    ("on a pod", "on nodes only", event(kind="Pod")),
    ("as the kubelet", "in its own name", event(source={"component": "kubelet"})),
    ("as the autoscaler's newer writers", "in its own name", event(reportingComponent="cluster-autoscaler")),
    ("as long as a message may be", "", event(message="x" * 1024)),
    ("a longer message", "short events", event(message="x" * 1025)),
    ("a long reason", "short events", event(reason="x" * 20_000)),
    ("a long path", "short events", about(fieldPath="x" * 20_000)),
    ("a long host", "short events", event(source={"component": "ebb", "host": "x" * 20_000})),
    ("another object", "nothing else", event(related={"kind": "Pod", "name": "x" * 20_000})),
    ("another field", "nothing else", event(action="x")),
    ("labels", "than a name", named(labels={"a": "b"})),
    ("a finalizer", "than a name", named(finalizers=["example.com/never"])),
    ("managedFields that fill it", "than a name", named(**filled_fields("v1")["metadata"])),
)
def test_the_drainer_writes_its_own_events_on_nodes_and_no_other(plane: ControlPlane, said: str, body: Raw) -> None:
    found = _tried(plane, f"/api/v1/namespaces/{body['metadata']['namespace']}/events?dryRun=All", body)

    assert (said in found) if said else found == "", found


@pytest.mark.parametrize(("said", "state", "change"), CASES.values(), ids=CASES)
def test_the_drainer_may_take_a_node_and_give_it_back_and_nothing_else(
    plane: ControlPlane, node: str, said: str, state: str, change: Callable[[Raw], Raw]
) -> None:
    _bring(plane, node, state)

    found = refusal(plane, node, change)

    assert (said in found) if said else found == "", found


def test_nobody_else_is_asked(plane: ControlPlane, node: str) -> None:
    assert plane.api.patch(path_of(node), {"metadata": {"labels": {"example.com/tried": "yes"}}})
    assert plane.api.patch(path_of(node), {"metadata": {"labels": {"example.com/tried": None}}})


def test_a_namespace_may_keep_its_pods(plane: ControlPlane, corner: Corner) -> None:
    [pod] = corner.run("web", replicas=1)
    name = pod["metadata"]["name"]

    assert eviction_tried(corner, name) == ""
    assert plane.api.patch(
        f"/api/v1/namespaces/{corner.namespace}", {"metadata": {"labels": {EVICTIONS_LABEL: "never"}}}
    )

    until("a refusal by the namespace's label", lambda: "keeps its pods from Ebb" in eviction_tried(corner, name))
    plane.api.evict(corner.namespace, name)
