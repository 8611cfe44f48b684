"""Settings of estafette's node compactor as a policy. Its two times are variables of its process."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from functions.cli.policy.importing.writing import (
    Imported,
    Noted,
    configuration,
    objects,
    only_one,
    others,
    part,
    write_imported,
)
from shared.core.policy.field import path_text
from shared.errors import BadPolicy

CHART: Final = "configmap"
CHART_KEY: Final = "compactorConfig"  # Where the values of its Helm chart hold the configuration.


KEY: Final = "estafette-k8s-node-compactor-config.yaml"
_LIMIT: Final = "scaleDownCPURequestRatioLimit"
_COUNT: Final = "scaleDownRequiredUnderutilizedNodeCount"
_FIELDS: Final = {"enabled", _LIMIT, _COUNT}
_REMEDY: Final = (
    f"one ConfigMap with the key {KEY}, the JSON that stands there, what helm template prints, or the chart's values "
    f"with {CHART}.{CHART_KEY}"
)
_ALWAYS: Final = (
    "times: no file is searched for them; give --needed-marked-time and --minimum-node-age where you had set them.",
    "SLEEP_DURATION_BETWEEN_ITERATIONS_SECONDS: how often a pass runs is the planner's schedule, not the policy.",
    "memory: estafette looked at CPU alone; scaleDownMemoryRequestRatioLimit, 0.75 by default, holds besides.",
    "cluster: estafette had no gates; Ebb's defaults hold (see ebb policy check), such as 60m since the last addition.",
    "excessNodesThreshold, budgets, rate: estafette had none; Ebb's defaults hold, 2 nodes, 10% and 20% an hour.",
)


def from_estafette(data: bytes, marked_seconds: int | None = None, age_seconds: int | None = None) -> Imported:
    """Convert a ConfigMap or its JSON, what `helm template` prints, or the chart's values.

    Raises BadPolicy for a file without such a configuration, or with one that estafette would not have read either.
    """
    things, notes, faults = objects(data), [*_ALWAYS], []
    rows: dict[str, Any] = {}
    for name, settings in _written_pools(things).items():
        where = path_text(("nodePools", str(name)))
        if name == "":
            notes.append("nodePools: the pool without a name is left out; Ebb never drains a node outside a pool.")
            continue
        faults += _faults(where, settings)
        if not faults:
            rows[str(name)] = _pool(where, settings, notes)
    if faults:
        raise BadPolicy(*faults)
    never = Noted("Never", "estafette let no node expire")
    marked = _timer("NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS", marked_seconds, "300s", "600s")
    age = _timer("MINIMUM_NODE_AGE_SECONDS", age_seconds, "1200s", "0s")
    disruption = {"consolidateAfter": marked, "expireAfter": never}
    policy = {"defaults": {"minimumNodeAge": age, "disruption": disruption}, "nodePools": rows}
    unused = (thing for thing in things if _configuration(thing) is None)
    notes += others(unused, "compaction")
    return write_imported("From a configuration of estafette-k8s-node-compactor.", policy, notes)


def _timer(variable: str, given: int | None, default: str, chart: str) -> Noted:
    if given is not None:
        return Noted(f"{given}s", variable)
    return Noted(default, f"estafette's own default, for it was not given; its Helm chart has {chart}")


def _written_pools(things: list[dict[str, Any]]) -> Mapping[Any, Any]:
    found = [written for written in map(_configuration, things) if written is not None]
    pools = only_one(found, "estafette", _REMEDY).get("nodePools", {})
    if not isinstance(pools, Mapping):
        raise BadPolicy("nodePools: it is no mapping; write the pools by name.")
    return pools


def _configuration(thing: dict[str, Any]) -> dict[str, Any] | None:
    for holder, key in (("data", KEY), (CHART, CHART_KEY)):
        if key in part(thing, holder):
            return configuration(thing[holder][key], f"{holder}.{key}")
    return thing if "nodePools" in thing else None


def _faults(where: str, settings: Any) -> list[str]:
    """Name every value of the wrong type; estafette logged such a fault and kept the others (predecessors, B3)."""
    if not isinstance(settings, Mapping):
        return [f"{where}: it is no mapping; write its settings by name."]
    kinds = {"enabled": (bool, "true or false"), _LIMIT: (int | Decimal, "a number"), _COUNT: (int, "a whole number")}
    return [
        f"{where}.{field}: it is not {what}; write {what} without quotes."
        for field, (kind, what) in kinds.items()
        if field in settings
        and (not isinstance(settings[field], kind) or isinstance(settings[field], bool) != (kind is bool))
    ]


def _pool(where: str, settings: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    strange = sorted(map(str, settings.keys() - _FIELDS))
    notes += [f"{path_text((where, field))}: estafette knows no such field; it is left out." for field in strange]
    limit, needed = settings.get(_LIMIT, 0), settings.get(_COUNT, 0)
    row = {"enabled": _enabled_setting(where, settings, limit, notes)}
    if limit > 0:
        row[_LIMIT] = Noted(min(limit, 1), "as written" if limit <= 1 else "it was above 1, which is all of a node")
    if needed > 0:
        row[_COUNT] = Noted(needed, "as written")
    else:
        notes.append(
            f"{where}.{_COUNT}: it was 0 or less, which asks for nothing; Ebb's default asks for enough nodes."
        )
    return row


def _enabled_setting(where: str, settings: Mapping[str, Any], limit: Decimal, notes: list[str]) -> Noted:
    if "enabled" not in settings:
        return Noted(value=False, because="it was not written, and false is estafette's default")
    if settings["enabled"] and limit <= 0:
        notes.append(f"{where}: without a limit above 0 no node was ever underutilized, so it is not enabled.")
        return Noted(value=False, because=f"it was true without {_LIMIT}")
    return Noted(settings["enabled"], "as written")
