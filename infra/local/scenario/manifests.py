"""Kubernetes objects for the workloads of a scenario: templates, controllers, budgets."""

from infra.local.scenario.reading import WorkloadBudget, WorkloadSpec
from infra.local.world.kinds import PLURAL_OF_KIND, Json
from infra.local.world.kubelet import PREFIX


def selector_of(workload: WorkloadSpec) -> dict[str, str]:
    return {"app": workload.name}


def _knobs(workload: WorkloadSpec) -> dict[str, str]:
    values = {"shutdown": workload.shutdown, "ready-after": workload.ready_after, "run-for": workload.run_for}
    knobs = {PREFIX + name: f"{value:g}" for name, value in values.items() if value is not None}
    return knobs if workload.never_ready == "no" else {**knobs, f"{PREFIX}never-ready": "true"}


def template_of(workload: WorkloadSpec) -> Json:
    """The pod template: metadata and spec."""
    container = {"name": "main", "image": "local/main", "resources": {"requests": dict(workload.requests)}}
    return {
        "metadata": {
            "labels": {**selector_of(workload), **workload.labels},
            "annotations": {**_knobs(workload), **workload.annotations},
        },
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": workload.grace,
            "schedulerName": "default-scheduler",
            "priority": workload.priority,
            "restartPolicy": "Never" if workload.kind == "Job" else "Always",
            **workload.pod,
        },
    }


def controller_of(workload: WorkloadSpec) -> tuple[str, Json] | None:
    """The plural and the object of the workload's controller; None for a bare pod."""
    if workload.kind == "Pod":
        return None
    spec: Json = {"template": template_of(workload)}
    if workload.kind == "Job":
        spec |= {"parallelism": workload.replicas, "completions": workload.replicas}
    else:
        spec |= {"selector": {"matchLabels": selector_of(workload)}}
    if workload.kind in {"Deployment", "StatefulSet"}:
        spec["replicas"] = workload.replicas
    if workload.pod_replacement_policy is not None:
        spec["podReplacementPolicy"] = workload.pod_replacement_policy
    if workload.kind == "StatefulSet" and workload.claims:
        spec["volumeClaimTemplates"] = workload.claims
    meta: Json = {"name": workload.name, "namespace": workload.namespace, "labels": selector_of(workload)}
    return PLURAL_OF_KIND[workload.kind], {"metadata": meta, "spec": {**spec, **workload.controller}}


def budget_of(workload: WorkloadSpec, budget: WorkloadBudget) -> Json:
    """The workload's PodDisruptionBudget, of the same name."""
    spec: Json = budget.model_dump(by_alias=True, exclude_none=True)
    spec["selector"] = {"matchLabels": selector_of(workload)}
    return {"metadata": {"name": workload.name, "namespace": workload.namespace}, "spec": spec}
