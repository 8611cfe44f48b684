"""Reads a policy document by the declarations: merges `defaults` under each pool and names each fault by its path."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import msgspec

from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS, DrainSettings, Policy
from shared.core.policy.field import Fault, Field, Path, Wrong
from shared.core.policy.fields import POOL_FIELDS, PoolPolicy, enough_nodes
from shared.core.policy.reading import read
from shared.core.policy.shapes import Block, ByName, Group, ListOf
from shared.errors import BadPolicy

HASH_LENGTH: Final = 12


def effective(read: Mapping[str, Any], written: Mapping[str, Any]) -> Policy:
    """Return the policy in force; `read` has the values of the document, `written` the document as plain values."""
    defaults = _settings(POOL_FIELDS, read.get("defaults", {}))
    own = {name: _settings(POOL_FIELDS, pool) for name, pool in read.get("nodePools", {}).items()}
    drain = _settings(DRAIN_FIELDS, read)
    # The same whatever the order of keys and the form of decimals.
    text = json.dumps(written, sort_keys=True, default=_plain, separators=(",", ":"))
    return Policy(
        hash=hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH],
        drain=msgspec.structs.replace(DrainSettings(), **drain),
        watchdog_by_profile="watchdog" not in drain,
        pools={name: _pool({**defaults, **own[name]}) for name in sorted(own)},
        other_pools=_pool({**defaults, "enabled": False}),
        defaults_enable=bool(defaults.get("enabled")),
        **_settings(CLUSTER_FIELDS, read),
    )


def _settings(fields: Mapping[str, Field], read: Mapping[str, Any]) -> dict[str, Any]:
    settings = {}
    for attribute, field in fields.items():
        section = read
        for group in field.path.split(".")[:-1]:
            section = section.get(group, {})
        if field.name in section:
            settings[attribute] = section[field.name]
    return settings


def _pool(settings: Mapping[str, Any]) -> PoolPolicy:
    """Return a pool with these settings; how many underutilized nodes it needs follows from its limit."""
    limit = settings.get("cpu_limit", PoolPolicy().cpu_limit)
    return PoolPolicy(**{"required_count": enough_nodes(limit), **settings}, written=frozenset(settings))


def _plain(value: object) -> str:
    return str(value.normalize()) if isinstance(value, Decimal) else str(value)


_HEADINGS: Final[Mapping[str, tuple[str, str, Any]]] = {
    "cluster": ("ClusterSection", "Gates of the whole cluster: they hold for all pools together.", {}),
    "cluster.disruption": ("CeilingSection", "Disruption of the whole cluster: budgets over all pools.", {}),
    "drain": (
        "DrainSection",
        "How a drain is carried out; a running drain keeps what held when it began, but for budgetUntil.",
        {},
    ),
    "drain.backoff": ("BackoffSection", "How long a node is left alone after a failed drain.", {}),
    "manual": ("ManualSection", "What a person's drain order may leave out.", {}),
    "disruption": (
        "DisruptionSection",
        "Karpenter's block of the same name, v1beta1 and v1, with allow-windows added.",
        None,
    ),
}
"""By path: title in the schema, text, default. Those of a pool are below its name; at the top they have this order."""
ANY_NAME: Final = "NAME"  # The step of a path that is a person's own name.


def _tree(fields: Iterable[Field], above: str = "") -> tuple[Field, ...]:
    rows: dict[str, list[Field]] = {}
    for field in fields:
        rows.setdefault(field.path.removeprefix(above).partition(".")[0], []).append(field)
    found = []
    for path, below in ((f"{above}{name}", below) for name, below in rows.items()):
        title, text, default = _HEADINGS.get(path, ("", "", None))
        group = Group(title, text, _tree(below, f"{path}.")) if title else None
        found.append(Field(path, group, text, default) if group else below[0])
    return tuple(found)


def _place(field: Field) -> int:
    group, _, below = field.path.partition(".")
    return list(_HEADINGS).index(group) if below else -1


POOL: Final = Group(
    "PoolSection",
    "One node pool. What it leaves out comes from `defaults`, then from here.",
    _tree(POOL_FIELDS.values()),
)
DOCUMENT: Final = Group(
    "Ebb policy",
    "Ebb's policy. An estafette configuration is valid as it stands; a Karpenter disruption block drops in.",
    (
        *_tree(sorted((*CLUSTER_FIELDS.values(), *DRAIN_FIELDS.values()), key=_place)),
        Field("defaults", POOL, "Any pool field, for all pools named in nodePools that do not write it.", {}),
        Field("nodePools", ByName(POOL), "The pools by name; a pool that is not named is disabled.", {}),
    ),
)


def places(fields: Iterable[Field] = DOCUMENT.fields, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field, in the document's order; `defaults` holds the fields of a pool once."""
    for field in fields:
        yield (*above, field.name)
        if field.name != "defaults":
            below, step = _below(field.shape)
            yield from places(below, (*above, field.name, *step))


def _below(shape: object) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    """Return the fields in a shape, and the step that leads to them besides the field's own name."""
    if isinstance(shape, ListOf):
        return _below(shape.item)
    if isinstance(shape, ByName):
        return _below(shape.item)[0], (ANY_NAME,)
    return (shape.fields, ()) if isinstance(shape, Block | Group) else ((), ())


def _find_section(path: Path) -> str:
    """Return where a field of that name belongs, as a remedy; empty where no section has one."""
    # Of several sections those in the same half of the document: `disruption` of the pool, not the cluster's.
    *place, name = [str(step) for step in path if not isinstance(step, int)]
    sections = [section for *section, field in sorted(places()) if field == name]
    if place[:1] == ["defaults"]:  # which holds what a pool does
        sections = [["defaults", *section[2:]] if section[:1] == ["nodePools"] else section for section in sections]
    near = [section for section in sections if section[:1] == place[:1]] or sections
    names = [".".join(section) or "the top of the document" for section in near]
    return f"it belongs under {' or '.join(names)}" if names else ""


def another_kind(written: Mapping[Any, Any]) -> str:
    """Return the sentence for a Kubernetes object that was given as a policy; empty for anything else."""
    if "kind" not in written or "apiVersion" not in written:
        return ""
    use = "for another tool's settings use `ebb policy import`, for a dump of a cluster `ebb policy init FILE`"
    return f"policy: it is a {str(written['kind'])[:60]} of Kubernetes and no policy; {use}."


def parse(data: bytes) -> Policy:
    """Read a policy document (YAML or JSON, at most 256 KiB)."""
    # BadPolicy has every fault, each with its path and remedy.
    written = read(data)
    if sentence := another_kind(written):
        raise BadPolicy(sentence)
    try:
        return effective(DOCUMENT.read(written, ()), written)
    except Wrong as wrong:
        raise BadPolicy(*map(_describe_fault, wrong.faults)) from wrong


def _describe_fault(fault: Fault) -> str:
    """Return the sentence; of a field that belongs elsewhere, with the remedy for that."""
    remedy = _find_section(fault.path) if fault.unknown else ""
    return str(replace(fault, remedy=remedy) if remedy else fault)
