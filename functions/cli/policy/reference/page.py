"""docs/policy.md and the policy's JSON schema, written from the declarations of the fields."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shared.core.policy.field import REQUIRED, Field
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.parsing import DOCUMENT
from shared.core.policy.scalars import (
    DURATION_PATTERN,
    LIMIT_PATTERN,
    NEVER,
    PERCENT_PATTERN,
    TAINT_KEY_PATTERN,
    WINDOW_PATTERN,
)
from shared.core.policy.shapes import Block, ByName, Group, ListOf, SetOf, Single
from shared.core.rules.gates import CLAIM_GATES, GATES

_PRECEDENCE_HEAD: Final = "| | word | reads | checked by |\n|---|---|---|---|\n"

AGE: Final = POOL_FIELDS["consolidate_after"].default

BEFORE: Final = f"""\
**The most restrictive wins.** Every setting can only hold a node back; none opens what another closes. If several
limits are in force, the smallest counts: of all active budgets of the pool and of the cluster, of both rates, of
`maxNodesPerPass`. The order below only decides which reason is named first; all of them are shown.

1. **The document.** If it is invalid or missing, nothing is ordered, marks stay as they are, and healing goes on.
   Running drains end with the settings in their claims. `dryRun: true`: the same verdicts, nothing is drained.
2. **The node and its pods.** Of the node: `enabled`, `ignoreTaints`, `minimumNodeAge`. Of its pods: `localStorage`,
   `longGrace`, `kubeSystemPods`, `jobs`, `singleReplicas`, `unprotected`, `minimumPodAge`, `WhenEmpty`. Then what the
   node saves for each pod: `minimumSavingPerEviction`.
3. **How full it is**: requests strictly below both ratio limits. estafette's limit decides which nodes may go.
   node-refiner's score (0.8 of CPU, 0.2 of memory) only decides which goes first, if `cluster.prefer` does not. The
   proof of placement decides last.
4. **The mark**: there is one, and one age it needs: `consolidateAfter` of the pool or of `defaults`, else {AGE}.
   Passes come minutes apart, so a shorter age means the next pass.
5. **The gates**, in this order. A claim checks its gates again at the moment of the grant, on fresh counts.
"""
AFTER: Final = """\
6. **The turns of its pods** under PodDisruptionBudgets: a drain that could not end within `drain.timeout` is not begun.
7. **The proof of placement**, with `headroom`: all pods of all nodes that leave must have a place together.

Where estafette, node-refiner and Karpenter differ, or have no answer, this holds:

- *`nodePools.NAME` over `defaults`*: a pool's own field wins; mappings are merged field by field, lists as a whole.
- *Pool over cluster*: only `timeSinceLastAddition` of a pool replaces the cluster's. Budgets and rates of pool and
  cluster apply together.
- *Empty and expired nodes* skip the ratio limits, the required count and the excess. An expired one also skips its
  mark, `Never` of `consolidateAfter` and `WhenEmpty`. Budgets, windows, minimums and the proof of placement apply.
- *Budgets* limit how many nodes are in disruption at once, a *rate* how many drains start in a time. *timeGap* is the
  least time between two passes that drain; the orders of one pass are one drain for it. *maxNodesPerPass* limits one
  pass. All apply together.
- *Percentages* round up: 10 % of a pool of three is one node. `minimumNodes` is the floor.
- *`cluster.wave`*: neither `timeGap` nor `maxNodesPerPass` binds the nodes of a wave; everything else does.
- *No active budget* is no limit, as in Karpenter, and gives a warning. For "only at night" use *windows*.
- *`singleReplicas` and a Deployment's annotation `ebb.internal/surge`*: `never` keeps single replicas whatever the
  annotation is. `surge` moves them without a gap or not at all: `"false"` keeps the pod. Under `move` and `avoid`,
  `"true"` requests the same, and `"false"` changes nothing. With any other value the pod stays. The same applies to
  the pods of a Deployment that a PodDisruptionBudget never lets go.
- *Minimums* count the nodes that are left after the removal.
- *DaemonSet and mirror pods* go with their node whatever their annotations are, as for the autoscaler. A
  `safe-to-evict: "false"` on one keeps no node. (With estafette it did.)
- *Passes* come exactly one interval apart, at an offset of each cluster's own; estafette's came 300 s ± 25 % apart.
- *In use* are claims, nodes with Ebb's taint and NotReady nodes of the pool; a person's cordon is not.
- *A person's drain* skips ratio limits, marks, required count, excess, gap and recent addition. It also skips what it
  names in `ignore`, as far as `manual.mayIgnore` allows. Every active budget binds it, whatever the budget's reasons.
- *A running drain* ends as it was begun. Only `paused`, `dryRun: true` and `enabled: false` make it return its node.
- *`steerScaleIn`* only decides which pods a scale-in takes first; it changes no node's verdict.
- *Dry run* holds if the policy or the order sets it: an order cannot lift the policy's.
"""


def precedence() -> str:
    """Return the whole section in Markdown."""
    return f"{BEFORE}\n{_PRECEDENCE_HEAD}" + "\n".join(_gates()) + f"\n\n{AFTER}"


def _gates() -> Iterator[str]:
    for number, gate in enumerate(GATES, start=1):
        who = "pass and claim" if gate in CLAIM_GATES else "pass"
        yield f"| {number} | `{gate.reason.value}` | {gate.reads} | {who} |"


Part = dict[str, Any]


@cache
def schema() -> Part:
    """Return the schema."""
    sections = {each.title: _section(each) for each in _sections(DOCUMENT.fields)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(sorted(sections.items()))}
    return {**head, **_section(DOCUMENT)}


def _sections(fields: Iterable[Field]) -> Iterator[Block[Any] | Group]:
    """Yield every mapping below these fields."""
    for field in fields:
        shape: object = field.shape
        while isinstance(shape, ListOf | SetOf | ByName):
            shape = shape.item
        if isinstance(shape, Block | Group):
            yield shape
            yield from _sections(shape.fields)


def _section(section: Block[Any] | Group) -> Part:
    required = [field.name for field in section.fields if field.default is REQUIRED]
    return _sorted(
        additionalProperties=False,
        description=section.text,
        properties={field.name: _property(field) for field in section.fields},
        title=section.title,
        type="object",
        **({"required": required} if required else {}),
    )


def _property(field: Field) -> Part:
    shape = _shape(field.shape)
    part = {"anyOf": [shape, {"type": "null"}]} if field.default is None else shape
    default = {} if field.default is REQUIRED else {"default": field.default}
    title = {} if "$ref" in shape else {"title": field.name.capitalize()}
    return _sorted(description=field.description, **part, **default, **title)


def _shape(shape: object) -> Part:
    match shape:
        case Block() | Group():
            return {"$ref": f"#/$defs/{shape.title}"}
        case ByName():
            return {"additionalProperties": _shape(shape.item), "type": "object"}
        case ListOf() | SetOf():
            most = {} if shape.most is None else {"maxItems": shape.most}
            return _sorted(items=_shape(shape.item), type="array", **most)
        case Single():
            return _sorted(**shape.schema)
        case _:
            raise TypeError(shape)


def _sorted(**rows: Any) -> Part:
    """Return them in the order of their names, so that the file changes where a field does and nowhere else."""
    return dict(sorted(rows.items()))


SchemaPart = Mapping[str, Any]
_TEXTS: Final = {
    f"^({DURATION_PATTERN}|0)$": "duration",
    f"^({DURATION_PATTERN})$": "duration above zero",
    f"^({DURATION_PATTERN}|0|{NEVER})$": f"duration or `{NEVER}`",
    f"^({WINDOW_PATTERN})$": "duration in minutes or more",
    f"^({PERCENT_PATTERN})$": "percentage",
    f"^({LIMIT_PATTERN})$": "number, or percentage rounded up",
    f"^({TAINT_KEY_PATTERN})$": "key of a taint",
}
"""What each pattern of the schema asks for."""
_KINDS: Final = {"boolean": "`true` or `false`", "string": "text", "object": "mapping"}
_HEAD: Final = "| field | value | meaning | default, and why |\n|---|---|---|---|\n"
_DEFAULT: Final = " Default "


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field: its path, what may be written with its unit, its meaning, its default with the reason for it."""

    path: str
    value: str
    meaning: str
    default: str

    def __str__(self) -> str:
        return f"| `{self.path}` | {self.value} | {self.meaning} | {self.default} |"


def table(schema: SchemaPart) -> str:
    """Return every field of the schema as one Markdown table."""
    return _HEAD + "\n".join(map(str, rows(schema))) + "\n"


def rows(schema: SchemaPart) -> Iterator[FieldRow]:
    """Yield a row for every field, in the order of the models; `defaults` holds the fields of a pool once."""
    yield from _fields(schema, "", schema["$defs"])


def _fields(section: SchemaPart, path: str, sections: SchemaPart) -> Iterator[FieldRow]:
    for name, field in section["properties"].items():
        part, list_of = _inner(field, sections)
        own = f"{path}{name}"
        yield _row(own, field, part, required=name in section.get("required", ()))
        if name != "defaults" and "properties" in part:
            yield from _fields(part, f"{own}{list_of}.", sections)


def _inner(field: SchemaPart, sections: SchemaPart) -> tuple[SchemaPart, str]:
    """Return what a field holds in the end, and how a path says that it holds many of them."""
    part = _all_of_it(field, sections)
    if part.get("type") == "array":
        return {"type": "array", **_all_of_it(part["items"], sections), "list": True}, "[]"
    if isinstance(part.get("additionalProperties"), Mapping):
        return _all_of_it(part["additionalProperties"], sections), ".NAME"
    return part, ""


def _all_of_it(field: SchemaPart, sections: SchemaPart) -> SchemaPart:
    """Return a field without the choice of leaving it out, and what it refers to."""
    choices = [each for each in field.get("anyOf", ()) if each.get("type") != "null"]
    part = choices[0] if len(choices) == 1 else field
    return sections[part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part


def _row(path: str, field: SchemaPart, part: SchemaPart, *, required: bool) -> FieldRow:
    meaning, _, why = field["description"].partition(_DEFAULT)
    value = f"list of: {_value(part)}" if part.get("list") else _value(part)
    default = "required" if required else why.removesuffix(".") or _default(field)
    return FieldRow(path, value, meaning, default)


def _default(field: SchemaPart) -> str:
    value = field.get("default")
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value)
    return "empty" if value in ([], {}) else f"`{text}`"


def _value(part: SchemaPart) -> str:
    if "properties" in part:
        return "mapping"
    if "enum" in part:
        return ", ".join(f"`{word}`" for word in part["enum"])
    patterns = [each.get("pattern") for each in (part, *part.get("anyOf", ()))]
    said = next((_TEXTS[pattern] for pattern in patterns if pattern in _TEXTS), "")
    return said or _number(part) or _KINDS[part["type"]]


def _number(part: SchemaPart) -> str:
    kind = {"integer": "whole number", "number": "decimal"}.get(part.get("type", ""), "")
    if not kind:
        return ""
    lowest = f" above {part['exclusiveMinimum']}" if "exclusiveMinimum" in part else f" from {part['minimum']}"
    return f"{kind}{lowest}" + (f" up to {part['maximum']}" if "maximum" in part else "")
