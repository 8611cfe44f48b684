"""How much CPU each pod asks for and each node offers, gathered as they come: the record does not tell."""

from infra.local.world.kinds import Json
from infra.local.world.pods import pod_requests, units
from infra.local.world.store import ObjectChange, Store


def cpu_of(store: Store) -> dict[str, int]:
    """Return millicores by UID, of what stands and, as time goes on, of what comes."""
    found = {thing["metadata"]["uid"]: _cpu(kind, thing) for kind in ("pods", "nodes") for thing in store.all(kind)}

    def take(change: ObjectChange) -> None:
        if change.before is None and change.after is not None and change.plural in {"pods", "nodes"}:
            found[change.after["metadata"]["uid"]] = _cpu(change.plural, change.after)

    store.listen(take)
    return found


def _cpu(plural: str, thing: Json) -> int:
    if plural == "pods":
        return pod_requests(thing).get("cpu", 0)
    return units("cpu", (thing.get("status") or {}).get("allocatable", {}).get("cpu", 0))
