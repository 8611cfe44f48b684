"""Drawn policies of a year: a document for the code, and the same limits as the judge counts them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from shared.core.reasons import DrainReason
from tests.properties.crons import crons
from tests.properties.year_reference import END, MINUTE, START, Span, most

ZONES = ("UTC", "Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe")
POOLS = ("a", "b")
Nodes = str | int


@dataclass(frozen=True)
class Allowance:
    """A budget: so many nodes at once for those reasons while the span is active."""

    nodes: Nodes
    span: Span | None
    reasons: tuple[str, ...]

    @property
    def document(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "reasons": list(self.reasons), **(self.span.document if self.span else {})}

    def binds(self, reason: DrainReason, now: datetime) -> bool:
        meant = not self.reasons or reason.value in self.reasons
        return meant and (self.span is None or self.span.active(now))


@dataclass(frozen=True)
class Speed:
    """A rate: so many starts in any period."""

    nodes: Nodes
    minutes: int

    @property
    def document(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "per": f"{self.minutes}m"}


@dataclass(frozen=True)
class Stop:
    """A freeze, from its start until before its end."""

    start: datetime
    end: datetime

    @property
    def document(self) -> dict[str, str]:
        return {"from": self.start.isoformat(), "to": self.end.isoformat()}


@dataclass(frozen=True)
class PoolRules:
    budgets: tuple[Allowance, ...]
    windows: tuple[Span, ...] | None
    speed: Speed | None
    least: int  # The pool's autoscaling minimum.

    @property
    def document(self) -> dict[str, Any]:
        block: dict[str, Any] = {"budgets": [budget.document for budget in self.budgets]}
        if self.windows is not None:
            block["windows"] = [window.document for window in self.windows]
        rate = {"rate": self.speed.document} if self.speed else {}
        return {"enabled": True, "disruption": block, **rate}


@dataclass(frozen=True)
class Rules:
    pools: Mapping[str, PoolRules]
    ceiling: tuple[Allowance, ...]
    speed: Speed
    freezes: tuple[Stop, ...]
    least: int

    @property
    def document(self) -> dict[str, Any]:
        cluster = {
            "minimumNodes": self.least,
            "minimumNonTaintedNodes": 0,
            "disruption": {"budgets": [row.document for row in self.ceiling]},
            "rate": self.speed.document,
            "freezes": [freeze.document for freeze in self.freezes],
        }
        return {"cluster": cluster, "nodePools": {name: rules.document for name, rules in self.pools.items()}}

    def edges(self) -> list[list[datetime]]:
        """Return, for each thing that opens and closes, the moments at which it does."""
        stops = [[stop.start, stop.end] for stop in self.freezes]
        return [edges for edges in (*stops, *(span.edges() for span in self._spans())) if edges]

    def _spans(self) -> list[Span]:
        allowances = [*self.ceiling, *(budget for rules in self.pools.values() for budget in rules.budgets)]
        windows = [span for rules in self.pools.values() for span in rules.windows or ()]
        return [allowance.span for allowance in allowances if allowance.span] + windows


@dataclass
class Judge:
    """Keeps its own books of the year, and says what the rules allow at a moment."""

    rules: Rules
    pool_of: Mapping[str, str]
    claimed: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    starts: list[tuple[datetime, str]] = field(default_factory=list)

    def allows(self, name: str, reason: DrainReason, now: datetime) -> bool:
        pool = self.pool_of[name]
        own = self.rules.pools[pool]
        if any(stop.start <= now < stop.end for stop in self.rules.freezes):
            return False
        if own.windows is not None and not any(span.active(now) for span in own.windows):
            return False
        return (
            self._at_once(own.budgets, [pool], name, reason, now)
            and self._at_once(self.rules.ceiling, POOLS, name, reason, now)
            and self._fast(self.rules.speed, POOLS, now)
            and (own.speed is None or self._fast(own.speed, [pool], now))
            and len(self._staying(POOLS) - self.broken - {name}) >= self.rules.least
            and len(self._staying([pool])) - 1 >= own.least
        )

    def _standing(self, pools: Sequence[str]) -> set[str]:
        return {name for name, pool in self.pool_of.items() if pool in pools} - self.gone

    def _staying(self, pools: Sequence[str]) -> set[str]:
        return self._standing(pools) - self.claimed

    def _at_once(
        self, budgets: Sequence[Allowance], pools: Sequence[str], name: str, reason: DrainReason, now: datetime
    ) -> bool:
        standing = self._standing(pools)
        using = (standing & (self.claimed | self.broken)) | {name}
        limits = [most(budget.nodes, len(standing)) for budget in budgets if budget.binds(reason, now)]
        return not limits or len(using) <= min(limits)

    def _fast(self, speed: Speed, pools: Sequence[str], now: datetime) -> bool:
        period = speed.minutes * MINUTE
        recent = sum(at > now - period for at, pool in self.starts if pool in pools)
        return recent + 1 <= most(speed.nodes, len(self._standing(pools)))


spans = st.builds(
    Span, crons, st.sampled_from([1, 30, 60, 8 * 60, 10 * 60, 48 * 60]) | st.integers(1, 1500), st.sampled_from(ZONES)
)
limits = st.integers(0, 6) | st.integers(0, 100).map(lambda share: f"{share}%")
allowances = st.builds(
    Allowance,
    limits,
    st.none() | spans,
    st.sampled_from([(), (), ("empty",), ("underutilized", "drifted"), ("drifted",)]),
)
speeds = st.builds(Speed, st.integers(1, 6) | st.sampled_from(["10%", "34%", "100%"]), st.sampled_from([1, 60, 1440]))


@st.composite
def stops(draw: st.DrawFn) -> Stop:
    start = START + MINUTE * draw(st.integers(0, 360 * 1440))
    return Stop(start, start + draw(st.sampled_from([timedelta(seconds=1), timedelta(hours=5), timedelta(days=4)])))


pool_rules = st.builds(
    PoolRules,
    st.lists(allowances, max_size=3).map(tuple),
    st.none() | st.lists(spans, max_size=2).map(tuple),
    st.none() | speeds,
    st.integers(0, 2),
)
rules = st.builds(
    Rules,
    st.fixed_dictionaries(dict.fromkeys(POOLS, pool_rules)),
    st.lists(allowances, max_size=2).map(tuple),
    speeds,
    st.lists(stops(), max_size=2).map(tuple),
    st.integers(0, 5),
)


@st.composite
def moments(draw: st.DrawFn, drawn: Rules) -> list[datetime]:
    """Instants of the year in order: in bursts, and at the edges of what the rules name, to the second."""
    things = drawn.edges() or [[START]]
    last = (END - START) // timedelta(seconds=1) - 1
    found: list[datetime] = []
    for _ in range(draw(st.integers(2, 6))):
        edges = draw(st.sampled_from(things))
        edge = edges[draw(st.integers(0, 10**6)) % len(edges)]
        base = edge if draw(st.booleans()) else START + timedelta(seconds=draw(st.integers(0, last)))
        steps = st.sampled_from([-60, -1, 0, 0, 1, 59, 60]) | st.integers(-5000, 5000)
        found += [base + timedelta(seconds=row) for row in draw(st.lists(steps, min_size=2, max_size=12))]
    return sorted(at for at in found if START <= at < END)
