"""SAP node-refiner: its ConfigMap `node-refiner-cm`.

Its README, code and shipped manifest disagree on defaults (docs/decisions/predecessors.md, N12): the code's hold, as in
the process. Which pools are meant is not guessed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from functions.cli.policy.importing.writing import (
    SAFE_DEFAULT,
    Imported,
    Noted,
    objects,
    only_one,
    others,
    part,
    write_imported,
)
from shared.core.policy.cluster_fields import CLUSTER_FIELDS
from shared.core.policy.fields import POOL_FIELDS
from shared.errors import BadInput, BadPolicy

CONFIG_MAP: Final = "node-refiner-cm"
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})  # The words of Go's ParseBool.
_BUDGET: Final = POOL_FIELDS["budgets"].default[0]["nodes"]
_RATE: Final = CLUSTER_FIELDS["rate"].default["nodes"]
_RATIO: Final = POOL_FIELDS["cpu_limit"].default
_DEFAULTS: Final = "Ebb's defaults hold"
_ALWAYS: Final = (
    f"limits: node-refiner had none for a single node; {_DEFAULTS} (see ebb policy check), such as {_RATIO} of CPU.",
    "minimums: node-refiner could end one node below them; Ebb counts what is left after the removal.",
    "excess_nodes_threshold: Ebb counts the excess in each pool, node-refiner counted it over the whole cluster.",
    f"budgets, rate: node-refiner had none; {_DEFAULTS}, {_BUDGET} of a pool and of the cluster, and {_RATE} an hour.",
    "taints: node-refiner passed by every tainted node; Ebb by those whose taint is not their whole pool's.",
)


def _minutes(text: str) -> str:
    return f"{_whole(text)}m"


def _whole(text: str) -> int:
    if not re.fullmatch(r"\+?[0-9]{1,9}", text, re.ASCII):
        raise BadInput("write a whole number, zero or more")
    return int(text)


def _number(text: str) -> Decimal:
    if not re.fullmatch(r"\+?[0-9]{1,9}(\.[0-9]{0,12})?", text, re.ASCII):
        raise BadInput("write a number, zero or more, such as 2 or 1.5")
    return Decimal(text)


def _dry_run(text: str) -> bool:
    """Whether the drainer was on or not: the first run of a policy that was just converted changes nothing."""
    if text not in _TRUE | _FALSE:
        raise BadInput("write true or false")
    return True


_KEYS: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = {
    "drainer_enabled": (_dry_run, "true"),
    "minimum_nodes": (_whole, "3"),
    "minimum_non_tainted_nodes": (_whole, "3"),
    "time_since_last_addition": (_minutes, "60"),
    "time_gap": (_minutes, "10"),
    "excess_nodes_threshold": (_number, "2"),
}
"""How each key is read, and the default of node-refiner's code."""


def from_node_refiner(data: bytes, pools: Sequence[str] = ()) -> Imported:
    """Convert a ConfigMap, or the mapping in it, and enable these pools; node-refiner knew none.

    Raises BadPolicy for a file without such a ConfigMap, or with values that node-refiner would not have read either.
    """
    things = objects(data)
    configurations = [thing for thing in things if _settings(thing).keys() & _KEYS.keys()]
    found = only_one(configurations, "node-refiner", f"the one ConfigMap {CONFIG_MAP}")
    written = _settings(found)
    values, faults = {}, []
    for name in _KEYS:
        try:
            values[name] = _value(name, written)
        except BadInput as error:
            faults.append(f"{name}: value {str(written[name])[:40]!r} is wrong; {error}.")
    if faults:
        raise BadPolicy(*faults)
    policy = {
        "dryRun": values["drainer_enabled"],
        "cluster": {
            "minimumNodes": values["minimum_nodes"],
            "minimumNonTaintedNodes": values["minimum_non_tainted_nodes"],
            "timeSinceLastAddition": values["time_since_last_addition"],
            "timeGap": values["time_gap"],
        },
        "defaults": {
            "enabled": Noted(value=True, because="for the pools below"),
            "excessNodesThreshold": values["excess_nodes_threshold"],
        },
        "nodePools": Noted({pool: {} for pool in pools}, "as asked for" if pools else "name the pools here"),
    }
    unused = others((thing for thing in things if thing not in configurations), "draining")
    notes = [*_notes(written, pools), *unused]
    return write_imported("From a ConfigMap of node-refiner.", policy, notes)


def _settings(thing: dict[str, Any]) -> dict[str, Any]:
    return part(thing, "data") if "data" in thing else thing


def _value(name: str, written: Mapping[str, Any]) -> Noted:
    read, default = _KEYS[name]
    safe = f"{SAFE_DEFAULT}; " if read is _dry_run else ""
    if name in written:
        value = written[name]
        text = (str(value).lower() if isinstance(value, bool) else str(value)).strip()
        return Noted(read(text), f"{safe}{name}{f' was {text}' if safe else ''}")
    return Noted(read(default), f"{safe}{name} was not there: the default of node-refiner's code, {default}")


def _notes(written: Mapping[str, Any], pools: Sequence[str]) -> list[str]:
    strange = sorted(str(name)[:40] for name in written.keys() - _KEYS.keys())
    unnamed = ["nodePools: node-refiner took nodes of any pool; name the pools that Ebb may drain with --pool."]
    unknown = [f"{name!r}: node-refiner knows no such key; it is left out." for name in strange]
    return [*unknown, *([] if pools else unnamed), *_ALWAYS]
