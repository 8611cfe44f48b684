"""Settings of estafette's node compactor as a policy; its timers become marks, windows and gaps."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from functions.cli.policy.importing.writing import (
    SAFE_DEFAULT,
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
CHART_KEY: Final = "compactorConfig"
"""Where the values of its Helm chart hold the configuration."""


@dataclass(frozen=True, slots=True)
class Timer:
    """The variable of the process, the name of the chart's value, and the default of each."""

    variable: str
    value: str
    default: int
    chart_default: str


MARKED: Final = Timer("NEEDED_MARKED_TIME_FOR_REMOVAL_SECONDS", "neededMarkedTimeForRemovalSeconds", 300, "600s")
AGE: Final = Timer("MINIMUM_NODE_AGE_SECONDS", "minimumNodeAgeSeconds", 1200, "0s")
_SECONDS: Final = r"0|[1-9][0-9]{0,8}"
"""Go reads a number with a 0 before it as an octal one, and estafette takes its default for what Go cannot read."""


def find_timer(which: Timer, given: int | None, things: Sequence[dict[str, Any]]) -> Noted:
    """Return how long it was: as a person gave it, else by the file, else the default. BadPolicy: two values."""
    if given is not None:
        return Noted(f"{given}s", which.variable)
    found = {noted.value: noted for thing in things for noted in _of_variable(which, thing)}
    if len(found) > 1:
        raise BadPolicy(f"{which.variable}: the file has {' and '.join(sorted(found))}; keep one of them.")
    assumed = f"estafette's own default, for it was not given; its Helm chart has {which.chart_default}"
    return next(iter(found.values()), Noted(f"{which.default}s", assumed))


def has_timers(thing: dict[str, Any]) -> bool:
    return any(entry.get("name") in {MARKED.variable, AGE.variable} for entry in _environment(thing))


def _of_variable(which: Timer, thing: dict[str, Any]) -> Iterator[Noted]:
    entries = [entry for entry in _environment(thing) if entry.get("name") == which.variable]
    for entry in entries[-1:]:
        value = entry.get("value")
        unquoted = "" if isinstance(value, str) else "; the API server refuses it without quotes"
        yield Noted(_seconds(which.variable, value), f"{which.variable} of the {thing.get('kind')}{unquoted}")
    if which.value in thing:
        yield Noted(_seconds(which.value, thing[which.value]), f"{which.value} of the chart")
    elif CHART_KEY in part(thing, CHART):
        default = f"the Helm chart's default, for {which.value} was not given"
        yield Noted(which.chart_default, default)


def _environment(thing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each variable of each container of a workload."""
    for container in _rows(part(thing, "spec", "template", "spec").get("containers")):
        yield from _rows(container.get("env"))


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _seconds(where: str, value: object) -> str:
    if value is None:
        raise BadPolicy(f"{where}: its value stands in another object; set a variable of that name for this command.")
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(_SECONDS, text, re.ASCII):
        raise BadPolicy(
            f"{where}: value {text[:40]!r} is wrong; write a whole number of seconds, without a 0 before it."
        )
    return f"{int(text)}s"


KEY: Final = "estafette-k8s-node-compactor-config.yaml"
_LIMIT: Final = "scaleDownCPURequestRatioLimit"
_COUNT: Final = "scaleDownRequiredUnderutilizedNodeCount"
_FIELDS: Final = {"enabled", _LIMIT, _COUNT}
_REMEDY: Final = (
    f"one ConfigMap with the key {KEY}, the JSON that stands there, what helm template prints, or the chart's values "
    f"with {CHART}.{CHART_KEY}"
)
_ALWAYS: Final = (
    "SLEEP_DURATION_BETWEEN_ITERATIONS_SECONDS: how often a pass runs is the planner's schedule, not the policy.",
    "memory: estafette looked at CPU alone; scaleDownMemoryRequestRatioLimit, 0.75 by default, holds besides.",
    "cluster: estafette had no gates; Ebb's defaults hold (see ebb policy check), such as 60m since the last addition.",
    "excessNodesThreshold, budgets, rate: estafette had none; Ebb's defaults hold, 2 nodes, 10% and 20% an hour.",
)


def from_estafette(data: bytes, marked_seconds: int | None = None, age_seconds: int | None = None) -> Imported:
    """Convert a ConfigMap or its JSON, what `helm template` prints, or the chart's values; the timers win over its own.

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
    disruption = {"consolidateAfter": find_timer(MARKED, marked_seconds, things), "expireAfter": never}
    policy = {
        "dryRun": Noted(value=True, because=SAFE_DEFAULT),
        "defaults": {"minimumNodeAge": find_timer(AGE, age_seconds, things), "disruption": disruption},
        "nodePools": rows,
    }
    unused = (thing for thing in things if _configuration(thing) is None and not has_timers(thing))
    notes += others(unused, "compaction")
    return write_imported("From a configuration of estafette-k8s-node-compactor.", policy, notes)


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
