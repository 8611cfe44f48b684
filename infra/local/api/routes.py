"""Which resource a path of the Kubernetes API names."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from infra.local.api.statuses import no_such_path
from infra.local.world.kinds import ApiKind, find


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


def _split(parts: list[str], path: str) -> tuple[str, str, list[str]]:
    match parts:
        case ["api", version, *rest]:
            return "", version, rest
        case ["apis", group, version, *rest]:
            return group, version, rest
    raise no_such_path(path)


@lru_cache(maxsize=4096)
def target_of(path: str) -> ResourcePath:
    """The resource a path names; a 404 Status for any path that is not served."""
    group, version, rest = _split([unquote(part) for part in path.strip("/").split("/")], path)
    namespace: str | None = None
    if rest[:1] == ["namespaces"] and len(rest) > 2:  # noqa: PLR2004 - /namespaces/NAME alone is the namespace itself
        namespace, rest = rest[1], rest[2:]
    plural, name, sub, *beyond = [*rest, "", "", ""][: max(len(rest), 3)] if rest else ["", "", ""]
    kind = find(group, version, plural)
    if kind is None or beyond or (namespace is not None and not kind.namespaced):
        raise no_such_path(path)
    if name and kind.namespaced and namespace is None:
        raise no_such_path(path)
    return ResourcePath(kind, namespace, name or None, sub)
