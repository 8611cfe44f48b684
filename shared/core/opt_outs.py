"""Annotations by which people ask to be left alone, for good or for a while.

Must not know which keys count where: `names` lists them, the rules ask.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from shared.core.selectors import Labels

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


def opted_out(annotations: Labels, keys: Iterable[str], started: datetime | None, now: datetime) -> str | None:
    """Return the key of the annotation that protects a pod now, or None.

    `true` (or the bare key) protects for good; a positive Go duration protects until that long after the pod's
    start, and for good while the start is unknown. Anything else is no protection. Source: Karpenter's
    `karpenter.sh/do-not-disrupt` (consolidation guide 1.2, rule 10).
    """
    return next((key for key in keys if key in annotations and _protects(annotations[key], started, now)), None)


def _protects(value: str, started: datetime | None, now: datetime) -> bool:
    if value in {"", "true"}:
        return True
    duration = go_duration(value)
    if duration is None:
        return False
    return started is None or now - started < duration
