"""What Kubernetes' own helper books for a running pod, told a second time, over the API's JSON and with plain numbers.

The law holds the adapter against this. Amounts are numbers of millicores, so that nothing is rounded. Must not import
what it judges. Source: component-helpers/resource PodRequests as the scheduler calls it (status resources and in-place
resize of pods on), kubernetes 1.36.3 and 1.37.2.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Amounts = Mapping[str, int]
Object = Mapping[str, Any]
OF_THE_POD = ("cpu", "memory")


def by_1_36(pod: Object) -> dict[str, int]:
    """The largest of wish and report, container by container; ordinary init containers count by their wish."""

    def effective(row: Object, *, init: bool) -> Amounts:
        status = _status(pod, row["name"])
        if (init and not _sidecar(row)) or status is None or status.get("resources") is None:
            return _wish(row)
        return _most(*_wishes(pod, _wish(row)), _actuated(status), _allocated(status))

    needed = _aggregate(pod, effective)
    wish, status = _wish(pod["spec"]), pod["status"]
    if _speaks_for_itself(wish):
        reported = _most(*_wishes(pod, wish), _actuated(status), _allocated(status))
        given = status.get("resources") is not None
        needed |= {name: (reported.get(name, 0) if given else wish[name]) for name in wish if name in OF_THE_POD}
    return _plus(needed, pod["spec"].get("overhead", {}))


def by_1_37(pod: Object) -> dict[str, int]:
    """The largest of three sums; a pod's own report stands for the sums of its containers' where it is whole."""

    def allocated(row: Object, *, init: bool) -> Amounts:
        del init
        status = _status(pod, row["name"]) or {}
        return _allocated(status) or _most(*_wishes(pod, _wish(row)))

    def actuated(row: Object, *, init: bool) -> Amounts:
        status = _status(pod, row["name"]) or {}
        return _actuated(status) or allocated(row, init=init)

    status = pod["status"]
    whole = bool(_allocated(status) and _actuated(status))
    sums = [_allocated(status), _actuated(status)] if whole else [_aggregate(pod, allocated), _aggregate(pod, actuated)]
    needed = _most(*_wishes(pod, wished(pod)), *sums)
    wish = _wish(pod["spec"])
    if _speaks_for_itself(wish):
        own = wish
        if status.get("resources") is not None:
            own = _most(*_wishes(pod, wish), _actuated(status), _allocated(status))
        needed |= {name: amount for name, amount in own.items() if name in OF_THE_POD}
    return _plus(needed, pod["spec"].get("overhead", {}))


def wished(pod: Object) -> dict[str, int]:
    """What the containers ask for together: the API server refuses a pod that asks for less of it as a whole."""

    def wish(row: Object, *, init: bool) -> Amounts:
        del init
        return _wish(row)

    return _aggregate(pod, wish)


def _aggregate(pod: Object, amounts_of: Callable[..., Amounts]) -> dict[str, int]:
    """App containers and sidecars together, or what the init containers need on their way, whichever is more."""
    running: dict[str, int] = {}
    for container in pod["spec"]["containers"]:
        running = _plus(running, amounts_of(container, init=False))
    beside: dict[str, int] = {}
    starting: dict[str, int] = {}
    for row in pod["spec"].get("initContainers", ()):
        amounts = amounts_of(row, init=True)
        starting = _most(starting, _plus(beside, amounts))
        if _sidecar(row):
            running, beside = _plus(running, amounts), _plus(beside, amounts)
    return _most(running, starting)


def _wishes(pod: Object, wish: Amounts) -> Iterable[Amounts]:
    """An infeasible resize will never be: its wish does not count."""
    pending = [row for row in pod["status"].get("conditions", ()) if row["type"] == "PodResizePending"]
    return () if pending and pending[0]["reason"] == "Infeasible" else (wish,)


def _speaks_for_itself(wish: Amounts) -> bool:
    return any(name in OF_THE_POD for name in wish)


def _wish(part: Object) -> Amounts:
    return _in_milli((part.get("resources") or {}).get("requests"))


def _allocated(status: Object) -> Amounts:
    return _in_milli(status.get("allocatedResources"))


def _actuated(status: Object) -> Amounts:
    return _in_milli((status.get("resources") or {}).get("requests"))


def _in_milli(given: Mapping[str, str] | None) -> Amounts:
    return {name: int(text.removesuffix("m")) for name, text in (given or {}).items()}


def _sidecar(row: Object) -> bool:
    return bool(row.get("restartPolicy") == "Always")


def _status(pod: Object, name: str) -> Object | None:
    status = pod["status"]
    rows = (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ()))
    return next((row for row in rows if row["name"] == name), None)


def _most(*given: Amounts) -> dict[str, int]:
    return {
        name: max(amounts.get(name, 0) for amounts in given) for name in {name for amounts in given for name in amounts}
    }


def _plus(mine: Amounts, theirs: Mapping[str, Any]) -> dict[str, int]:
    other = _in_milli(theirs) if any(isinstance(written, str) for written in theirs.values()) else theirs
    return {name: mine.get(name, 0) + other.get(name, 0) for name in {*mine, *other}}
