"""The two timers of estafette's process: as its Deployment sets them, as its Helm chart's values do, or its defaults.

Must not know the pools.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from functions.cli.policy.importing.objects import part
from functions.cli.policy.importing.writing import Noted
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
_VARIABLES: Final = frozenset({MARKED.variable, AGE.variable})


def timer(which: Timer, given: int | None, things: Sequence[dict[str, Any]]) -> Noted:
    """Return how long it was: as given by a person, else as the objects of the file say, else by default.

    Raises:
        BadPolicy: the objects say it twice and not the same, or it is no number of seconds.
    """
    if given is not None:
        return Noted(f"{given}s", which.variable)
    found = {each.value: each for thing in things for each in _said(which, thing)}
    if len(found) > 1:
        raise BadPolicy(f"{which.variable}: the file says {' and '.join(sorted(found))}; keep one of them.")
    assumed = f"estafette's own default, for it was not given; its Helm chart says {which.chart_default}"
    return next(iter(found.values()), Noted(f"{which.default}s", assumed))


def has_timers(thing: dict[str, Any]) -> bool:
    """Whether an object is the process's own, by its variables."""
    return any(_name(entry) in _VARIABLES for entry in _environment(thing))


def _said(which: Timer, thing: dict[str, Any]) -> Iterator[Noted]:
    entries = [entry for entry in _environment(thing) if _name(entry) == which.variable]
    for entry in entries[-1:]:
        yield Noted(_seconds(which.variable, entry.get("value")), f"{which.variable} of the {thing.get('kind')}")
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
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("name"))


def _seconds(where: str, value: object) -> str:
    if value is None:
        raise BadPolicy(f"{where}: its value stands in another object; set a variable of that name for this command.")
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        raise BadPolicy(f"{where}: value {text[:40]!r} is wrong; write a whole number of seconds.")
    return f"{int(text)}s"
