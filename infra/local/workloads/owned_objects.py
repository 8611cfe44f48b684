"""Making a controlled object from its controller: owner reference, labels, template."""

import hashlib
import json
from contextlib import suppress

from infra.local.world.kinds import Json
from infra.local.world.store import NotAdmittedError, Store, copied


def owned_by(owner: Json) -> list[Json]:
    """The owner references of an object that `owner` controls."""
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return [{**reference, "controller": True, "blockOwnerDeletion": True}]


def template_hash(template: Json) -> str:
    """A short name for a pod template, as `pod-template-hash` has it."""
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:9]


def pod_from(owner: Json, name: str | None = None) -> Json:
    """A pod of the owner's template, named or with a generated name; not stored."""
    template: Json = copied(owner["spec"]["template"])
    meta: Json = template.get("metadata") or {}
    meta["namespace"] = owner["metadata"]["namespace"]
    meta["ownerReferences"] = owned_by(owner)
    meta["generateName"] = f"{owner['metadata']['name']}-"
    if name is not None:
        meta["name"] = name
    return {"metadata": meta, "spec": template["spec"], "status": {"phase": "Pending"}}


def create_pod(store: Store, pod: Json, actor: str) -> None:
    """Create it, unless its namespace does not let it in: the controller tries again whenever something changes."""
    with suppress(NotAdmittedError):
        store.create("pods", pod, actor)


def controller_of_pod(store: Store, pod: Json) -> tuple[str, str]:
    """Kind and name of what stands behind a pod: for a ReplicaSet of a Deployment, that Deployment."""
    kind, name = _controller(pod)
    if kind == "ReplicaSet":
        found = store.find("replicasets", pod["metadata"]["namespace"], name)
        behind = _controller(found) if found is not None else ("", "")
        return behind if behind[0] else (kind, name)
    return kind, name


def _controller(thing: Json) -> tuple[str, str]:
    owners: list[Json] = thing["metadata"].get("ownerReferences") or []
    return next(((each["kind"], each["name"]) for each in owners if each.get("controller")), ("", ""))


def write_status(store: Store, plural: str, owner: Json, status: Json) -> None:
    """Store a controller's status, with the generation it has observed."""
    observed = {**status, "observedGeneration": owner["metadata"]["generation"]}
    meta = owner["metadata"]
    if owner.get("status") != observed and store.find(plural, meta["namespace"], meta["name"]) is not None:
        store.update(
            plural, meta["namespace"], meta["name"], lambda thing: thing.update(status=observed), "controller-manager"
        )
