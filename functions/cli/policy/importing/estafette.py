"""Settings of estafette's node compactor as a policy; its timers become marks, windows and gaps."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from functions.cli.policy.importing.writing import (
    SAFE_DEFAULT,
    Imported,
    Noted,
    configuration,
    imported,
    objects,
    others,
    part,
    require_one,
)
from shared.core.policy.field import path_text
from shared.errors import BadPolicy

CHART: Final = "configmap"
CHART_KEY: Final = "compactorConfig"
"""Where the values of its Helm chart hold the configuration."""


class Timer(NamedTuple):
    """A variable of the process, its default, and that of the Helm chart."""

    variable: str
    default: int
    chart_default: int

    def choose_seconds(self, given: int | None) -> Noted:
        """Return the seconds that a person gave, else the default of the process."""
        if given is not None:
            return Noted(f"{given}s", self.variable)
        assumed = f"estafette's own default, for it was not given; its Helm chart has {self.chart_default}s"
        return Noted(f"{self.default}s", assumed)


MARKED: Final = Timer("NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS", 300, 600)
AGE: Final = Timer("MINIMUM_NODE_AGE_SECONDS", 1200, 0)
KEY: Final = "estafette-k8s-node-compactor-config.yaml"
_LIMIT: Final = "scaleDownCPURequestRatioLimit"
_COUNT: Final = "scaleDownRequiredUnderutilizedNodeCount"
_FIELDS: Final[Mapping[str, tuple[Any, str]]] = {
    "enabled": (bool, "true or false"),
    _LIMIT: (int | Decimal, "a number"),
    _COUNT: (int, "a whole number"),
}
_ALWAYS: Final = (
    f"{MARKED.variable}, {AGE.variable}: not read from a file; give --needed-marked-time, --minimum-node-age.",
    "SLEEP_DURATION_BETWEEN_ITERATIONS_SECONDS: how often a pass runs is the planner's schedule, not the policy.",
    "memory: estafette looked at CPU alone; scaleDownMemoryRequestRatioLimit, 0.75 by default, holds besides.",
    "cluster: estafette had no gates; Ebb's defaults hold (see ebb policy check), such as 60m since the last addition.",
    "excessNodesThreshold, budgets, rate: estafette had none; Ebb's defaults hold, 2 nodes, 10% and 20% an hour.",
)


def from_estafette(data: bytes, marked_seconds: int | None = None, age_seconds: int | None = None) -> Imported:
    """Convert a ConfigMap or its JSON, what `helm template` prints, or the chart's values.

    Args:
        data: YAML or JSON.
        marked_seconds: NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS of the process, if known.
        age_seconds: MINIMUM_NODE_AGE_SECONDS of the process, if known.

    Raises:
        BadPolicy: the file holds no such configuration, or one that estafette would not have read either.
    """
    things = objects(data)
    pools, notes, faults = _written(things), [*_ALWAYS], []
    rows: dict[str, Any] = {}
    for name, settings in pools.items():
        where = path_text(("nodePools", str(name)))
        if name == "":
            notes.append("nodePools: the pool without a name is left out; Ebb never drains a node outside a pool.")
            continue
        faults += _faults(where, settings)
        if not faults:
            rows[str(name)] = _pool(where, settings, notes)
    if faults:
        raise BadPolicy(*faults)
    policy = {
        "dryRun": Noted(value=True, because=SAFE_DEFAULT),
        "defaults": _defaults(MARKED.choose_seconds(marked_seconds), AGE.choose_seconds(age_seconds)),
        "nodePools": rows,
    }
    left_out = others((thing for thing in things if _configuration(thing) is None), "compaction")
    return imported("From a configuration of estafette-k8s-node-compactor.", policy, [*notes, *left_out])


def _written(things: list[dict[str, Any]]) -> Mapping[Any, Any]:
    found = [written for written in map(_configuration, things) if written is not None]
    give = (
        f"one ConfigMap with the key {KEY}, the JSON that stands there, what helm template prints, or the chart's "
        f"values with {CHART}.{CHART_KEY}"
    )
    pools = require_one(found, "estafette", give).get("nodePools", {})
    if not isinstance(pools, Mapping):
        raise BadPolicy("nodePools: it is no mapping; write the pools by name.")
    return pools


def _configuration(thing: dict[str, Any]) -> dict[str, Any] | None:
    data = part(thing, "data")
    if KEY in data:
        return configuration(data[KEY], f"data.{KEY}")
    values = part(thing, CHART)
    if CHART_KEY in values:
        return configuration(values[CHART_KEY], f"{CHART}.{CHART_KEY}")
    return thing if "nodePools" in thing else None


def _faults(where: str, settings: Any) -> list[str]:
    """Name every value of the wrong type; estafette logged such a fault and kept the other fields.

    See docs/decisions/predecessors.md, B3.
    """
    if not isinstance(settings, Mapping):
        return [f"{where}: it is no mapping; write its settings by name."]
    return [
        f"{where}.{field}: it is not {what}; write {what} without quotes."
        for field, (kind, what) in _FIELDS.items()
        if field in settings
        and (not isinstance(settings[field], kind) or isinstance(settings[field], bool) != (kind is bool))
    ]


def _pool(where: str, settings: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    strange = sorted(map(str, settings.keys() - _FIELDS.keys()))
    notes += [f"{path_text((where, field))}: estafette knows no such field; it is left out." for field in strange]
    limit, needed = settings.get(_LIMIT, 0), settings.get(_COUNT, 0)
    row = {"enabled": _enabled(where, settings, limit, notes)}
    if limit > 0:
        row[_LIMIT] = Noted(min(limit, 1), "as written" if limit <= 1 else "it was above 1, which is all of a node")
    if needed > 0:
        row[_COUNT] = Noted(needed, "as written")
    else:
        notes.append(
            f"{where}.{_COUNT}: it was 0 or less, which asks for nothing; Ebb's default asks for enough nodes."
        )
    return row


def _enabled(where: str, settings: Mapping[str, Any], limit: Decimal, notes: list[str]) -> Noted:
    if "enabled" not in settings:
        return Noted(value=False, because="it was not written, and false is estafette's default")
    if settings["enabled"] and limit <= 0:
        notes.append(f"{where}: without a limit above 0 no node was ever underutilized, so it is not enabled.")
        return Noted(value=False, because=f"it was true without {_LIMIT}")
    return Noted(settings["enabled"], "as written")


def _defaults(marked: Noted, age: Noted) -> dict[str, Any]:
    never = Noted("Never", "estafette let no node expire")
    return {"minimumNodeAge": age, "disruption": {"consolidateAfter": marked, "expireAfter": never}}
