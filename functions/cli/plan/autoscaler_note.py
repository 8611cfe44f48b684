"""What a plan says of the autoscaler beside Ebb, a line each: where it only deletes empty nodes, and where it competes.

Nothing is said where nothing is known. Must not decide anything.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from functions.cli.analysis.pool_scale_down import pool_rules
from functions.cli.format import percent, some
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.cluster.snapshot import Snapshot

PAGE: Final = "docs/reaper.md"
_REAPS: Final = "The autoscaler only deletes empty nodes"
_COMPETES: Final = "the autoscaler itself empties nodes that are used up to {gate}, and competes with Ebb"
_UNKNOWN: Final = (
    "Whether the autoscaler only deletes empty nodes is not known for {pools}: no ComputeClass {classes} is known "
    "here; {remedy}."
)


def autoscaler_note(snapshot: Snapshot, *, in_dump: bool) -> tuple[str, ...]:
    """Return a line of what is known, and one of what is not; empty where the autoscaler takes no nodes at all."""
    rules = pool_rules(snapshot)
    known = {name: rule for name, rule in rules.items() if rule.class_known}
    unknown = {name: rule for name, rule in rules.items() if not rule.class_known}
    told = (_sentence(known, whole=not unknown),) if known else ()
    return (*told, _not_known(unknown, in_dump=in_dump)) if unknown else told


def _not_known(rules: Mapping[str, ScaleDownRule], *, in_dump: bool) -> str:
    remedy = "add computeclasses to the dump" if in_dump else "let this account list computeclasses"
    classes = some(sorted({rule.compute_class for rule in rules.values()}))
    return _UNKNOWN.format(pools=_pools(rules), classes=classes, remedy=remedy)


def _sentence(rules: Mapping[str, ScaleDownRule], *, whole: bool) -> str:
    reaped = {name: rule for name, rule in rules.items() if rule.is_reaper}
    others = {name: rule for name, rule in rules.items() if not rule.is_reaper}
    gate = percent(max((rule.gate for rule in others.values()), default=Fraction(0)))
    competes = _COMPETES.format(gate=gate)
    if not reaped and not whole:
        return f"Of {_pools(others)} {competes} ({PAGE})."
    if not reaped:
        return f"{competes[0].upper()}{competes[1:]}; {PAGE} says how it only deletes empty ones."
    if not others and not whole:
        return f"{_REAPS} of {_pools(reaped)} ({PAGE})."
    if others:
        return f"{_REAPS} of {_pools(reaped)}; of {_pools(others)} {competes} ({PAGE})."
    return f"{_REAPS}, of every pool ({PAGE}; nothing else scales down without Ebb)."


def _pools(rules: Mapping[str, ScaleDownRule]) -> str:
    return f"pool{'s' if len(rules) > 1 else ''} {some(sorted(rules))}"
