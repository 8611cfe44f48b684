"""How the settings of a policy are written: each value by its type, and what a value that is left out means there."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from functions.cli.output.format import moment, span
from shared.core.policy import WATCHDOGS, Budget, Freeze, NamespaceRate, Policy, PoolPolicy, Rate, Schedule
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.field import Field
from shared.core.policy.fields import ASK_FOR_SPARE, POOL_FIELDS
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment, WaveLimits

CLUSTER: Final = "cluster"  # Whose settings are not a pool's.
_WATCHDOG: Final = DRAIN_FIELDS["watchdog"].path


def cluster_settings(policy: Policy) -> dict[str, str]:
    """Return all settings in force that are not a pool's, in words, by the path that the policy gives them."""
    return {
        **dict(_values(policy, CLUSTER_FIELDS)),
        **dict(_values(policy.drain, DRAIN_FIELDS)),
        _WATCHDOG: _watchdog(policy),
    }


def pool_settings(pool: PoolPolicy) -> dict[str, str]:
    """Return one pool's settings in force, in words, by the path below its name."""
    found = _values(pool, POOL_FIELDS)
    by_default = (POOL_FIELDS[setting].path for setting in ASK_FOR_SPARE - pool.written)
    return {**found, **{path: f"{found[path]} until demand has fallen" for path in by_default}}


def meaning_of(place: str, path: str) -> str:
    """Return what a setting means, without its default; `place` is `cluster`, or whose pool's it is."""
    fields = (CLUSTER_FIELDS, DRAIN_FIELDS) if place == CLUSTER else (POOL_FIELDS,)
    texts = (field.description for section in fields for field in section.values() if field.path == path)
    return next(texts, "").partition(" Default ")[0]


def _values(settings: object, fields: Mapping[str, Field]) -> dict[str, str]:
    return {field.path: _value(field, getattr(settings, attribute)) for attribute, field in fields.items()}


def _value(field: Field, value: Any) -> str:
    if value is None:
        return field.unset
    if isinstance(value, (tuple, frozenset)) and not value:
        return field.empty
    return f"{in_words(value)}{field.unit}"


def in_words(value: object) -> str:
    """Return a setting's value the way the policy writes it, or the way it limits."""
    return next((say(value) for kind, say in _WORDS if isinstance(value, kind)), str(value))


def _budget(value: Budget) -> str:
    when = in_words(value.schedule) if value.schedule else "always"
    reasons = f" for {', '.join(sorted(value.reasons))}" if value.reasons else ""
    return f"{value.nodes} {when}{reasons}"


def _commitments(value: Commitments) -> str:
    """Return them part by part, each separated by a semicolon."""
    elsewhere = value.elsewhere
    used = "; ".join(f"{family} {in_words(size)}" for family, size in sorted((elsewhere or {}).items())) or "nothing"
    rows = (
        *map(in_words, value.families),
        *([in_words(value.flexible)] if value.flexible else ()),
        *([f"elsewhere {used}"] if elsewhere is not None else ()),
        *([f"shared by {', '.join(value.shared_by)}"] if value.shared_by else ()),
        *(["read once an hour"] if value.read else ()),
    )
    return "; ".join(rows) or "none"


def _off(share: Fraction) -> str:
    return f"{float(share * 100):g}% off"


def _until(end: datetime | None) -> str:
    return f" until {moment(end)}" if end else ""


_WORDS: Final[tuple[tuple[type, Callable[[Any], str]], ...]] = (
    (bool, lambda value: "true" if value else "false"),
    (Enum, lambda value: str(value.value)),
    (timedelta, span),
    (Fraction, lambda value: f"{float(value):g}"),
    (frozenset, lambda value: ", ".join(sorted(map(in_words, value)))),
    (tuple, lambda value: "; ".join(map(in_words, value))),
    (Budget, _budget),
    (Schedule, lambda value: f'"{value.cron}" for {span(value.duration)} ({value.time_zone})'),
    (Rate, lambda value: f"{value.nodes} in any {span(value.per)}"),
    (NamespaceRate, lambda value: f"{value.pods} pods in any {span(value.per)}"),
    (WaveLimits, lambda value: f"{value.nodes} for at most {span(value.deadline)}"),
    (Freeze, lambda value: f"{moment(value.start)} to {moment(value.end)}"),
    (Capacity, lambda value: f"{float(value.vcpu):g} vCPUs {float(value.gib):g} GiB"),
    (Commitment, lambda value: f"{value.family} {in_words(value.size)} at {_off(value.discount)}{_until(value.until)}"),
    (
        FlexibleCommitment,
        lambda value: f"{float(value.per_hour):g} dollars an hour at {_off(value.discount)}{_until(value.until)}",
    ),
    (Commitments, _commitments),
)


def _watchdog(policy: Policy) -> str:
    usual = policy.drain_for("BALANCED").watchdog
    others = {name: policy.drain_for(name).watchdog for name in WATCHDOGS}
    exceptions = [f", {span(time)} in the {name} profile" for name, time in sorted(others.items()) if time != usual]
    return f"{span(usual)}{''.join(exceptions)}"
