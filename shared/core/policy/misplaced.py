"""What a field or a whole file was meant for, when it is none of the policy's at that place.

Must not refuse: it words a remedy for what the readers refused, or names the file that another command reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from shared.core.policy.document import ANY_NAME, places
from shared.core.policy.faults import Path

_NODE_REFINER: Final = frozenset({"drainer_enabled", "excess_nodes_threshold", "minimum_non_tainted_nodes"})
_MOST_PLACES: Final = 2
_CUT: Final[Mapping[str, str]] = {
    "evictionResponders": "leave it out: no cluster has a controller for EvictionRequests, and a pod that names who "
    "answers for its eviction keeps its node",
}
"""Fields of earlier versions, and what to do about them."""


def remedy_for(path: Path) -> str:
    """Return what to do about a field that is none of its section; empty where its name tells nothing."""
    return _CUT.get(str(path[-1]), "") or _belongs(path)


def _belongs(path: Path) -> str:
    """Return where a field of that name belongs, as a remedy; empty where no section has one.

    Of several sections the one that shares most of the path is meant: `disruption` of the pool, not the cluster's.
    """
    *place, name = [str(step) for step in path if not isinstance(step, int)]
    found = _sections().get(name, ())
    shared = {each: _shared(_steps(place), _steps(each)) for each in found}
    best = [each for each in found if shared[each] == max(shared.values())][:_MOST_PLACES]
    said = [_section_name(each, shared[each], len(place)) for each in best]
    return f"it belongs under {' or '.join(said)}" if said else ""


@cache
def _sections() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return the sections that have a field of a name, in the order of their names."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for *section, name in sorted(places()):
        found.setdefault(name, []).append(tuple(section))
    return {name: tuple(sections) for name, sections in found.items()}


def _steps(place: Sequence[str]) -> list[str]:
    """Return a place with the pool's own name as any: `defaults` holds what a pool does."""
    if place[:1] == ["defaults"]:
        return ["nodePools", ANY_NAME, *place[1:]]
    return [*place[:1], ANY_NAME, *place[2:]] if place[:1] == ["nodePools"] else list(place)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (count for count, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _section_name(section: Sequence[str], shared: int, depth: int) -> str:
    """Return a section as seen from the place of the fault: from there on where it lies below, else in full."""
    below = shared >= depth and len(section) > shared
    return ".".join(section[shared:] if below else section) or "the top of the document"


_OF_DUMPS: Final = frozenset({"a Node", "a Pod"})
"""Kinds that lists of objects hold which describe a cluster."""


def another_kind(written: Mapping[Any, Any]) -> str:
    """Return the sentence for a Kubernetes object that was given as a policy; empty for anything else."""
    if "kind" not in written or "apiVersion" not in written:
        return ""
    kinds = sorted({_kind(each) for each in _objects(written)} - {""})
    if "items" in written and _OF_DUMPS & {*kinds}:
        return "policy: it is a dump of a cluster and no policy; name it with --dump."
    imports = sorted({name for each in _objects(written) for name in _imports(each)})
    said = " or ".join(f"`ebb policy import {name}`" for name in imports)
    what = f"policy: it is {' and '.join(kinds) or 'an object'} of Kubernetes and no policy"
    return f"{what}; convert it with {said}." if said else f"{what}; write at least `nodePools: {{}}`."


def _objects(written: Mapping[Any, Any]) -> Iterator[Mapping[Any, Any]]:
    items = written.get("items")
    yield from (each for each in items if isinstance(each, Mapping)) if isinstance(items, list) else (written,)


def _kind(thing: Mapping[Any, Any]) -> str:
    kind = str(thing.get("kind", ""))[:60]
    return f"a {kind}" if kind else ""


def _imports(thing: Mapping[Any, Any]) -> tuple[str, ...]:
    if str(thing.get("apiVersion", "")).startswith("karpenter."):
        return ("karpenter",)
    data = thing.get("data")
    if thing.get("kind") != "ConfigMap" or not isinstance(data, Mapping):
        return ()
    if data.keys() & _NODE_REFINER:
        return ("node-refiner",)
    compactor = any("compactor" in str(name) for name in data)
    return ("estafette",) if compactor else ("estafette", "node-refiner")
