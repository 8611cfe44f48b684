"""What `/apis/GROUP` and `/apis/GROUP/VERSION` answer, for groups of which there may be kinds and may be none.

Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/ (discovery).
"""

from infra.local.world.kinds import KINDS, ApiKind, Json
from infra.local.world.store import Store


def is_served(kind: ApiKind, store: Store) -> bool:
    """Whether the cluster has the kind at all."""
    return not kind.custom or bool(store.all(kind.plural))


def discovered(path: str, store: Store) -> Json | None:
    """What is said of a group or of one version of it; None where the path asks for something else, or is unknown."""
    match path.strip("/").split("/"):
        case ["apis", group]:
            found = {kind.version for kind in _kinds(group, store)}
            versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in sorted(found)]
            return {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": versions} if found else None
        case ["apis", group, version]:
            rows = [_resource(kind) for kind in _kinds(group, store) if kind.version == version]
            head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}"}
            return {**head, "resources": rows} if rows else None
    return None


def _kinds(group: str, store: Store) -> list[ApiKind]:
    return [kind for kind in KINDS.values() if kind.group == group and is_served(kind, store)]


def _resource(kind: ApiKind) -> Json:
    return {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced, "verbs": ["get", "list", "create"]}
