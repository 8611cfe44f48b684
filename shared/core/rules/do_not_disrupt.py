"""Annotations and labels by which people ask to be left alone, for good or for a while."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.selectors import Labels

_UNIX: Final = re.compile(r"[0-9]{1,12}")
_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_MICROSECONDS: Final = {
    "ns": Fraction(1, 1000),
    "us": Fraction(1),
    "µs": Fraction(1),  # U+00B5
    "μs": Fraction(1),
    "ms": Fraction(1000),
    "s": Fraction(10**6),
    "m": Fraction(60 * 10**6),
    "h": Fraction(3600 * 10**6),
}


def go_duration(text: str) -> timedelta | None:
    """Return a positive duration as Go writes it (`1h30m`, `90s`, `1.5h`), or None when the text is none."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    microseconds = sum(Fraction(number) * _MICROSECONDS[unit] for number, unit in parts)
    try:
        return timedelta(microseconds=int(microseconds)) if microseconds > 0 else None
    except OverflowError:
        return timedelta.max


def opt_out_key(annotations: Labels, keys: Iterable[str], started: datetime | None, now: datetime) -> str | None:
    """Return the key of the annotation that protects a pod now, or None (Karpenter; docs/decisions/people.md)."""
    # `true` (or the bare key) protects for good; a Go duration until that long after the pod's start, and for good
    # while the start is unknown. Anything else is no protection.
    return next((key for key in keys if key in annotations and _protects(annotations[key], started, now)), None)


def _protects(value: str, started: datetime | None, now: datetime) -> bool:
    if value in {"", "true"}:
        return True
    duration = go_duration(value)
    if duration is None:
        return False
    return started is None or now - started < duration


_OPT_OUTS: Final = frozenset({*names.POD_OPT_OUTS, *names.POD_OPT_OUT_LABELS, names.OPT_OUT_UNTIL})


def pod_opt_out(annotations: Labels, labels: Labels, started: datetime | None, now: datetime) -> str | None:
    """Return the annotation or label, as `key=value`, by which a pod is left alone now; None without one."""
    if _OPT_OUTS.isdisjoint(annotations) and _OPT_OUTS.isdisjoint(labels):
        return None
    key = opt_out_key(annotations, names.POD_OPT_OUTS, started, now) if annotations else None
    if key is not None:
        return f"{key}={annotations[key]}"
    label = next((key for key in names.POD_OPT_OUT_LABELS if labels.get(key) == "true"), None)
    return f"{label}=true" if label else _until(annotations, labels, now)


def node_opt_outs(annotations: Labels, labels: Labels, now: datetime) -> tuple[str, ...]:
    """Return all annotations and labels, as `key=value`, by which a node is left alone now."""
    # On nodes only the exact word `true` counts, as for Karpenter and for the cluster autoscaler.
    keys = [key for key in names.NODE_OPT_OUTS if "true" in {annotations.get(key), labels.get(key)}]
    until = _until(annotations, labels, now)
    return (*(f"{key}=true" for key in keys), *((until,) if until else ()))


def _until(annotations: Labels, labels: Labels, now: datetime) -> str | None:
    for value in (annotations.get(names.OPT_OUT_UNTIL), labels.get(names.OPT_OUT_UNTIL)):
        if value is not None and _UNIX.fullmatch(value) and int(value) > now.timestamp():
            return f"{names.OPT_OUT_UNTIL}={value}"
    return None
