"""ReplicaSets, Deployments and StatefulSets: how they are read, and what the core knows of a workload.

A ReplicaSet is the link between a pod and its Deployment; one without counts by itself. A rollout is judged as `kubectl
rollout status` does, but replicas that are lost later, or come by scaling up, make none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient, segment
from shared.adapters.kubernetes.discovery import AdvisoryLists
from shared.adapters.kubernetes.node_objects import limit
from shared.adapters.kubernetes.pod_objects import Template, template_class
from shared.adapters.kubernetes.transport import Call
from shared.core.cluster import names
from shared.core.cluster.pod import CLAIM, Pod, PodClass, Volume
from shared.core.cluster.selectors import NO_LABELS, Labels
from shared.core.cluster.workloads import A_QUARTER, Deployment, Revisions, Workload
from shared.errors import BadInput, Gone

REPLICA_SET: Final = "ReplicaSet"
DEPLOYMENT: Final = "Deployment"
STATEFUL_SET: Final = "StatefulSet"
JOB: Final = "Job"
OTHERS: Final[Mapping[str, tuple[str, str]]] = {
    "ReplicationController": ("replicationcontrollers", ""),
    JOB: ("jobs", "batch"),
}
"""By kind the list and the API group of those of which only the template is read, and only if they have pods."""
_PROGRESSING: Final = "Progressing"
_AT_REST: Final = frozenset({"NewReplicaSetAvailable", "DeploymentPaused"})
"""Reasons of the condition Progressing while nothing is being rolled out (deployment controller, progress.go)."""
_ON_DELETE: Final = "OnDelete"
_AT_THE_END: Final = "TerminationComplete"
"""The podReplacementPolicy under which a Deployment makes a new pod only when the old one has ended (KEP-5882)."""


class ControllerNotes(msgspec.Struct, frozen=True, gc=False):
    """Of a controller's annotations, which may be large, those that are read."""

    surge: str = msgspec.field(default="", name=names.SURGE)
    surged_before: str = msgspec.field(default="", name=names.SURGED_BEFORE)


class ControllerMeta(wire.Partial, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: wire.Time | None = None
    annotations: ControllerNotes | None = None
    owner_references: list[wire.OwnerReference] | None = None


class RollingUpdate(wire.Partial, frozen=True):
    partition: int = 0
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class UpdateStrategy(wire.Partial, frozen=True):
    type: str = ""
    rolling_update: RollingUpdate | None = None


class Ordinals(wire.Partial, frozen=True):
    start: int = 0


class ControllerSpec(wire.Partial, frozen=True):
    replicas: wire.Count | None = None
    update_strategy: UpdateStrategy = UpdateStrategy()
    strategy: UpdateStrategy = UpdateStrategy()  # The same of a Deployment.
    min_ready_seconds: int = 0
    paused: bool = False
    template: Template | None = None
    volume_claim_templates: list[wire.AnyObject] | None = None
    ordinals: Ordinals | None = None
    pod_replacement_policy: str | None = ""


class ControllerStatus(wire.Partial, frozen=True):
    replicas: wire.Count = 0
    updated_replicas: wire.Count = 0
    available_replicas: wire.Count = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    current_revision: str = ""
    update_revision: str = ""
    conditions: list[wire.Condition] | None = None


class Controller(wire.Partial, frozen=True):
    """A ReplicaSet, a Deployment or a StatefulSet: the fields that the three share, and a few of one alone."""

    metadata: ControllerMeta
    spec: ControllerSpec = ControllerSpec()
    status: ControllerStatus = ControllerStatus()


def workloads(
    replica_sets: Iterable[Controller], deployments: Mapping[str, Controller], stateful_sets: Iterable[Controller]
) -> dict[str, Workload]:
    """Return the workloads by `namespace/kind/name` of the controller that a pod names; `deployments` are by key."""
    rows = {_key(found, REPLICA_SET): replica_set(found, deployments.get(owner_key(found))) for found in replica_sets}
    return {**rows, **{_key(found, STATEFUL_SET): stateful_set(found) for found in stateful_sets}}


def by_key(found: Iterable[Controller]) -> dict[str, Controller]:
    """Return Deployments by `namespace/name`."""
    return {f"{deployment.metadata.namespace}/{deployment.metadata.name}": deployment for deployment in found}


def owner(replica_set: Controller) -> str:
    """Return the name of the Deployment that controls a ReplicaSet; empty without one."""
    found = wire.controller_of(replica_set.metadata.owner_references)
    return found.name if found and found.kind == DEPLOYMENT else ""


def owner_key(replica_set: Controller) -> str:
    return f"{replica_set.metadata.namespace}/{owner(replica_set)}"


def replica_set(given: Controller, deployment: Controller | None) -> Workload:
    """Return the Deployment's numbers: during a rollout its replicas are spread over several ReplicaSets."""
    template, templates = given.spec.template or Template(), _template_classes(given)
    fixed, mark = wire.controller_of(given.metadata.owner_references) is not None, template.annotation(names.STEERED)
    if deployment is None:
        return _workload(given, REPLICA_SET, templates, rolling=False, fixed_template=fixed, template_mark=mark)
    newest, rolling = deployment.spec.template or Template(), _deployment_rolls(deployment)
    if newest.spec != template.spec:  # just changed: the next pod may be made from either
        templates = (*templates, *_template_classes(deployment))
    return _workload(deployment, DEPLOYMENT, templates, rolling=rolling, fixed_template=fixed, template_mark=mark)


def stateful_set(given: Controller) -> Workload:
    spec, status = given.spec, given.status
    update = spec.update_strategy.rolling_update if spec.update_strategy.type != _ON_DELETE else None
    newest = "" if _is_unseen(given) else status.update_revision
    first = (spec.ordinals.start if spec.ordinals else 0) + update.partition if update else 0
    made = _template_classes(given, {names.REVISION_LABEL: newest} if newest else NO_LABELS)
    templates = tuple(_with_claims(template, given) for template in made)
    revisions = Revisions(status.current_revision, newest, first)
    return _workload(given, STATEFUL_SET, templates, rolling=_stateful_set_rolls(given), revisions=revisions)


def _template_classes(given: Controller, labels: Labels = NO_LABELS) -> tuple[PodClass, ...]:
    """Return what is made of a controller's template, if it has one. Raises BadInput for one that cannot be read."""
    template, meta = given.spec.template, given.metadata
    if template is None or not template.spec:
        return ()
    try:
        return (template_class(template, meta.namespace, labels=labels),)
    except BadInput as fault:
        raise BadInput(f"the template of {meta.namespace}/{meta.name}: {fault}") from fault


def _with_claims(made: PodClass, given: Controller) -> PodClass:
    """Return the class with the claims that are made for each pod, which stand for volumes of the same name."""
    names_given = (claim.metadata.name for claim in given.spec.volume_claim_templates or ())
    claims = {name: Volume(name, CLAIM) for name in names_given}
    others = (volume for volume in made.volumes if volume.name not in claims)
    return replace(made, volumes=(*claims.values(), *others)) if claims else made


def _workload(given: Controller, kind: str, templates: tuple[PodClass, ...], *, rolling: bool, **own: Any) -> Workload:
    status, behind = given.status, wire.controller_of(given.metadata.owner_references)
    return Workload(
        _key(given, kind),
        _wanted_replicas(given),
        status.available_replicas,
        rolling,
        status.replicas,
        f"{given.metadata.namespace}/{behind.kind}/{behind.name}" if behind else "",
        templates,
        terminating=status.terminating_replicas,
        replaced_at_end=given.spec.pod_replacement_policy == _AT_THE_END,
        deployment=deployment(given) if kind == DEPLOYMENT else None,
        **own,
    )


def deployment(given: Controller, template: str = "") -> Deployment:
    """Return a Deployment as its rollouts see it; `template` is its template's digest, if read. Raises BadInput."""
    meta, spec, status, name = given.metadata, given.spec, given.status, _key(given, DEPLOYMENT)
    update = spec.strategy.rolling_update or RollingUpdate()
    return Deployment(
        name=name,
        uid=meta.uid,
        resource_version=meta.resource_version,
        wanted=_wanted_replicas(given),
        created=status.replicas,
        updated=status.updated_replicas,
        available=status.available_replicas,
        observed=not _is_unseen(given),
        progressing=all(row.status != "False" for row in status.conditions or () if row.type == _PROGRESSING),
        rolling_update=spec.strategy.type in {"", "RollingUpdate"},
        max_surge=limit(update.max_surge, name) or A_QUARTER,
        max_unavailable=limit(update.max_unavailable, name) or A_QUARTER,
        min_ready=timedelta(seconds=spec.min_ready_seconds),
        paused=spec.paused,
        deleting=meta.deletion_timestamp is not None,
        wish=meta.annotations.surge if meta.annotations else "",
        stamp=(spec.template or Template()).annotation(names.SURGE_STAMP),
        earlier=meta.annotations.surged_before if meta.annotations else "",
        generation=meta.generation,
        template=template,
    )


def _key(given: Controller, kind: str) -> str:
    return f"{given.metadata.namespace}/{kind}/{given.metadata.name}"


def _wanted_replicas(given: Controller) -> int:
    return 1 if given.spec.replicas is None else given.spec.replicas


def _is_unseen(given: Controller) -> bool:
    """Whether the controller has not yet acted on the newest spec."""
    return given.status.observed_generation < given.metadata.generation


def _deployment_rolls(given: Controller) -> bool:
    status = given.status
    if _is_unseen(given) or status.replicas != status.updated_replicas:
        return True
    reasons = (condition.reason for condition in status.conditions or () if condition.type == _PROGRESSING)
    return any(reason not in _AT_REST for reason in reasons)


def _stateful_set_rolls(given: Controller) -> bool:
    """Pods below the partition stay as they are; under OnDelete nothing is rolled out but by hand."""
    strategy, status = given.spec.update_strategy, given.status
    if _is_unseen(given):
        return True
    if strategy.type == _ON_DELETE or status.current_revision == status.update_revision:
        return False
    kept = strategy.rolling_update.partition if strategy.rolling_update else 0
    return not kept or status.updated_replicas < _wanted_replicas(given) - kept


_page: Final = msgspec.json.Decoder(wire.Page[Controller])
ONE: Final = msgspec.json.Decoder(Controller)

_KINDS: Final = frozenset({REPLICA_SET, STATEFUL_SET})
MOST_SINGLY: Final = 10
"""More are listed: a ReplicaSet and its Deployment are two calls, and a list of a namespace three for all of them."""
MOST_NAMESPACES: Final = 3  # More are listed together.


class Controllers:
    def __init__(self, client: KubernetesClient) -> None:
        self._client = client

    def all(self, namespace: str = "") -> Mapping[str, Workload]:
        """List all, or a namespace's; ReplicaSets first, for a Deployment read after that is at least as new."""
        sets = self._list("replicasets", namespace)
        return workloads(sets, by_key(self._list("deployments", namespace)), self._list("statefulsets", namespace))

    def of(self, controllers: Iterable[str]) -> Mapping[str, Workload]:
        """Read those named `namespace/kind/name`; what is not there, or of another kind, is left out."""
        readable = [controller for controller in dict.fromkeys(controllers) if _kind(controller) in _KINDS]
        namespaces = sorted({controller.partition("/")[0] for controller in readable})
        # few one by one; many as lists, of their namespaces where these are few, and then all that is in them
        if len(readable) <= MOST_SINGLY:
            found = {controller: self._one(controller) for controller in readable}
            return {controller: read for controller, read in found.items() if read is not None}
        if len(namespaces) > MOST_NAMESPACES:
            return self.all()
        return {name: read for namespace in namespaces for name, read in self.all(namespace).items()}

    def _one(self, controller: str) -> Workload | None:
        namespace, kind, name = controller.split("/", 2)
        found = self._get("replicasets" if kind == REPLICA_SET else "statefulsets", namespace, name)
        if found is None:
            return None
        if kind == STATEFUL_SET:
            return stateful_set(found)
        deployment = owner(found)
        return replica_set(found, self._get("deployments", namespace, deployment) if deployment else None)

    def _get(self, plural: str, namespace: str, name: str) -> Controller | None:
        path = f"/apis/apps/v1/namespaces/{segment(namespace)}/{plural}/{segment(name)}"
        try:
            return self._client.fetch(Call("get", plural, path), ONE.decode)
        except Gone:
            return None

    def _list(self, plural: str, namespace: str) -> tuple[Controller, ...]:
        within = f"namespaces/{segment(namespace)}/" if namespace else ""
        return self._client.read_list(Call("list", plural, f"/apis/apps/v1/{within}{plural}"), _page, _keep_active)


def _kind(controller: str) -> str:
    return controller.split("/", 2)[1] if controller.count("/") > 1 else ""


def _keep_active(items: Iterator[Controller]) -> tuple[Controller, ...]:
    """Leave out what has no pods: a Deployment keeps ten old ReplicaSets at zero."""
    return tuple(_keep_own_parts(found) for found in items if found.spec.replicas != 0 or found.status.replicas)


def _keep_own_parts(given: Controller) -> Controller:
    template = given.spec.template and given.spec.template.copy()
    return structs.replace(given, spec=structs.replace(given.spec, template=template))


def read_others(client: KubernetesClient, pods: Iterable[Pod]) -> tuple[dict[str, Workload], tuple[str, ...]]:
    """Read the templates of Jobs and ReplicationControllers that have pods, and name the lists that we may not read."""
    counted, lists = pods_of_others(pods), AdvisoryLists(client)
    found: dict[str, Workload] = {}
    for kind, (resource, group) in OTHERS.items():
        if any(_kind(name) == kind for name in counted):
            for workload in lists.read(resource, partial(_read_other, kind, counted), group):
                found |= workload
    return found, tuple(lists.unread)


def _read_other(kind: str, counted: Mapping[str, int], raw: bytes | msgspec.Raw) -> dict[str, Workload]:
    return other(kind, counted, ONE.decode(raw))


def pods_of_others(pods: Iterable[Pod]) -> Counter[str]:
    """Count the living pods of each Job and ReplicationController."""
    named: Counter[str] = Counter()
    for spec, number in Counter(pod.spec for pod in pods if not pod.phase.finished).items():
        if spec.owner is not None and spec.owner.kind in OTHERS:
            named[spec.workload] += number
    return named


def other(kind: str, counted: Mapping[str, int], given: Controller) -> dict[str, Workload]:
    """Return one by its name if it has pods. The template of a Job that runs never changes (batch/validation)."""
    name = _key(given, kind)
    if name not in counted:
        return {}
    return {name: Workload(name, counted[name], templates=_template_classes(given), fixed_template=kind == JOB)}
