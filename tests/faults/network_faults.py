"""What befalls messages and instances besides failing calls: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MessageFaults:
    """What befalls the pushes, by their number in the history: lost, doubled, late (seconds)."""

    lost: frozenset[int] = frozenset()
    doubled: frozenset[int] = frozenset()
    late: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ClockSkew:
    """How far the instances' clocks are off: every call draws its own offset and rate."""

    offset: float = 0.0
    rate: float = 0.0
