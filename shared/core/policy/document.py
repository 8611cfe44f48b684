"""The document as a tree: which field stands under which name. Made from the fields' own paths.

Must not hold facts about single fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.field import Field
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.shapes import Block, ByName, Group, ListOf


@dataclass(frozen=True, slots=True)
class _Heading:
    """A name that holds fields: its title in the schema, what it is, and what it means where it stands."""

    title: str
    text: str
    meaning: str
    default: Any


_HEADINGS: Final[Mapping[str, _Heading]] = {
    "cluster": _Heading("ClusterSection", "Gates of the whole cluster.", "What holds for all pools together.", {}),
    "cluster.disruption": _Heading("CeilingSection", "Disruption of the whole cluster.", "Budgets over all pools.", {}),
    "drain": _Heading(
        "DrainSection",
        "How a drain is carried out; a running drain keeps what held when it began.",
        "How a drain is carried out.",
        {},
    ),
    "drain.backoff": _Heading(
        "BackoffSection",
        "How long a node is left alone after a drain of it failed.",
        "How long a node is left alone after a failed drain.",
        {},
    ),
    "manual": _Heading(
        "ManualSection", "What a person's drain order may leave out.", "What a person's drain may leave out.", {}
    ),
    "disruption": _Heading(
        "DisruptionSection",
        "Karpenter's block of the same name, v1beta1 and v1, with allow-windows added.",
        "Karpenter's disruption block.",
        None,
    ),
}
"""By path, those of a pool below its name; at the top of the document they follow in this order."""
_TOP: Final = [*_HEADINGS]
ANY_NAME: Final = "NAME"
"""The step of a path that is a person's own name."""


def _tree(fields: Iterable[Field], above: str = "") -> tuple[Field, ...]:
    """Return what stands at a place of the document, in the order in which its fields are declared."""
    rows: dict[str, list[Field]] = {}
    for field in fields:
        rows.setdefault(field.path.removeprefix(above).partition(".")[0], []).append(field)
    return tuple(_branch(f"{above}{name}", below) for name, below in rows.items())


def _branch(path: str, fields: list[Field]) -> Field:
    heading = _HEADINGS.get(path)
    if heading is None:
        return fields[0]
    group = Group(heading.title, heading.text, _tree(fields, f"{path}."))
    return Field(path, group, heading.meaning, heading.default)


def _place(field: Field) -> int:
    group, _, below = field.path.partition(".")
    return _TOP.index(group) if below else -1


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
