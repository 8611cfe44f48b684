"""The paths of the simulated API server: which resource one names, and what discovery shows of a group."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from infra.local.http_messages import no_such_path
from infra.local.world.kinds import KINDS, ApiKind, Json
from infra.local.world.store import Store


@dataclass(frozen=True)
class ResourcePath:
    """A parsed path: `namespace` is None for all namespaces, `name` None for a list; `sub` as in `eviction`."""

    kind: ApiKind
    namespace: str | None
    name: str | None
    sub: str

    @property
    def space(self) -> str:
        """The namespace as the store keys it: empty for cluster-scoped objects."""
        return self.namespace or ""


@lru_cache(maxsize=4096)
def target_of(path: str) -> ResourcePath:
    """The resource a path names; a 404 Status for any path that is not served."""
    root, *parts = [unquote(part) for part in path.strip("/").split("/")]
    group, version, *rest = [*([""] if root == "api" else []), *parts, "", ""]
    rest = [part for part in rest if part]
    namespace: str | None = None
    if rest[:1] == ["namespaces"] and len(rest) > 2:  # noqa: PLR2004 - /namespaces/NAME alone is the namespace itself
        namespace, rest = rest[1], rest[2:]
    plural, name, sub, *beyond = [*rest, "", "", ""][: max(len(rest), 3)]
    kind = KINDS.get(plural)
    if kind is None or beyond or root not in {"api", "apis"} or (kind.group, kind.version) != (group, version):
        raise no_such_path(path)
    if (kind.namespaced and name and namespace is None) or (namespace is not None and not kind.namespaced):
        raise no_such_path(path)
    return ResourcePath(kind, namespace, name or None, sub)


def is_served(kind: ApiKind, store: Store) -> bool:
    """Whether the cluster has the kind at all."""
    return not kind.custom or bool(store.all(kind.plural))


def discovered(path: str, store: Store) -> Json | None:
    """The discovery document of a group or one of its versions; None for any other path and an unknown group."""
    root, *parts = path.strip("/").split("/")
    if root != "apis" or len(parts) not in {1, 2}:
        return None
    group, version = parts[0], parts[-1]
    kinds = [kind for kind in KINDS.values() if kind.group == group and is_served(kind, store)]
    if len(parts) == 1:
        served = sorted({kind.version for kind in kinds})
        versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in served]
        return {"kind": "APIGroup", "apiVersion": "v1", "name": group, "versions": versions} if versions else None
    verbs = ["get", "list", "create"]
    rows = [
        {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced, "verbs": verbs}
        for kind in kinds
        if kind.version == version
    ]
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}"}
    return {**head, "resources": rows} if rows else None
