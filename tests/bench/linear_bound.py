"""What may go at most, by linear programming over pod classes and node groups: no plan can save more.

Proof that it only widens what is allowed. Let z_i in {0, 1} say that node i goes, n_ki how many pods of class k lie on
it, y_kg how many displaced pods of class k the nodes of group g that stay take. Only pods of nodes that go move, so
    sum_g y_kg = sum_i n_ki z_i                                              every displaced pod has a place,
    sum_k r_k y_kg <= sum_{i in g} f_i (1 - z_i)                             in what is free (f_i >= 0) on what stays,
    sum_{j >= k} y_jg <= sum_{i in g} floor(f_i / r_k) (1 - z_i)             a node takes whole pods of at least r_k,
    sum_{k in e} y_kg <= sum_{i in g} max(0, 1 - n_ei) (1 - z_i)             pods of e exclude each other on a node,
with y_kg = 0 where the class may not lie in the group. Every plan satisfies all of these, whatever else binds it; then
z_i may be any share between 0 and 1, y_kg any amount, which only allows more. Nodes that may not go have z_i = 0.
Rules that are left out (spread, affinity, several groups that exclude each other) only make the bound looser.

An LP that is infeasible or unbounded is a fault of this module: z = 0 is always a solution.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_MANY: Final = 20
"""Where a mean node takes more pods than this, rounding down is not worth a row."""


@dataclass(frozen=True)
class BoundClass:
    """Pods alike in all that the bound looks at: amounts by resource, where they may lie, whom they exclude."""

    requests: tuple[float, ...]
    groups: frozenset[Hashable] | None = None
    """None = all."""
    excludes: str = ""
    """Of pods with the same word each node holds at most one."""


@dataclass(frozen=True)
class BoundNode:
    """One node; `free` is what its pods leave of it, by resource, and `pods` are those that would have to move."""

    cost: float
    free: tuple[float, ...]
    group: Hashable = ""
    pods: Mapping[BoundClass, int] = field(default_factory=dict)
    pinned: bool = False


def most_saved(nodes: Sequence[BoundNode]) -> float:
    # Only `make bench` installs it; the program itself is tested without.
    from scipy.optimize import linprog  # noqa: PLC0415

    program = Program(nodes)
    costs = [-node.cost for node in nodes] + [0.0] * program.placements
    limits = [(0.0, 0.0 if node.pinned else 1.0) for node in nodes] + [(0.0, None)] * program.placements
    equal, below = program.equal, program.below
    sides = {
        "A_eq": equal.matrix(len(costs)),
        "b_eq": equal.right,
        "A_ub": below.matrix(len(costs)),
        "b_ub": below.right,
    }
    found = linprog(costs, bounds=limits, **{name: side for name, side in sides.items() if side is not None})
    assert found.status == 0, f"the bound's linear program: {found.message}"
    return -float(found.fun)


@dataclass
class Rows:
    left: list[Mapping[int, float]] = field(default_factory=list)
    right: list[float] = field(default_factory=list)

    def add(self, row: Mapping[int, float], right: float) -> None:
        self.left.append(row)
        self.right.append(right)

    def matrix(self, columns: int) -> Any:
        from scipy.sparse import coo_array  # noqa: PLC0415 - as above

        entries = [(place, column, value) for place, row in enumerate(self.left) for column, value in row.items()]
        rows, places, values = zip(*entries, strict=True) if entries else ((), (), ())
        return coo_array((values, (rows, places)), shape=(len(self.left), columns))


class Program:
    """The constraints: columns are first the nodes' shares, then what each group takes of each class."""

    def __init__(self, nodes: Sequence[BoundNode]) -> None:
        self._nodes = nodes
        self._members: dict[Hashable, list[int]] = defaultdict(list)
        for place, node in enumerate(nodes):
            self._members[node.group].append(place)
        self._classes = sorted({kind for node in nodes for kind in node.pods}, key=repr)
        pairs = [(kind, group) for kind in self._classes for group in self._members if _may(kind, group)]
        self.column: Mapping[tuple[BoundClass, Hashable], int] = {
            pair: len(nodes) + place for place, pair in enumerate(pairs)
        }
        self.placements = len(pairs)
        self.equal, self.below = Rows(), Rows()
        self._everything_has_a_place()
        for group, members in self._members.items():
            self._resources(group, members)
            self._whole_pods(group, members)
            self._exclusions(group, members)

    def _everything_has_a_place(self) -> None:
        holders: dict[BoundClass, dict[int, float]] = defaultdict(dict)
        for place, node in enumerate(self._nodes):
            for kind, count in node.pods.items():
                holders[kind][place] = -float(count)
        for kind in self._classes:
            taken = {self.column[kind, group]: 1.0 for group in self._members if (kind, group) in self.column}
            self.equal.add({**holders[kind], **taken}, 0.0)

    def _resources(self, group: Hashable, members: Sequence[int]) -> None:
        for axis in range(len(self._nodes[members[0]].free)):
            free = {place: max(self._nodes[place].free[axis], 0.0) for place in members}
            scale = max(*free.values(), 1.0)
            asked = {column: kind.requests[axis] / scale for kind, column in self._here(group)}
            kept = {place: amount / scale for place, amount in free.items()}
            self.below.add({**asked, **kept}, sum(kept.values()))

    def _whole_pods(self, group: Hashable, members: Sequence[int]) -> None:
        """One row for each distinct request that is not small: pods that ask for at least as much of everything."""
        here = self._here(group)
        for requests in sorted({kind.requests for kind, _ in here}):
            taking = {place: float(_whole(self._nodes[place].free, requests)) for place in members}
            if sum(taking.values()) > _MANY * len(taking):
                continue
            larger = {column: 1.0 for kind, column in here if _at_least(kind.requests, requests)}
            self.below.add({**larger, **taking}, sum(taking.values()))

    def _exclusions(self, group: Hashable, members: Sequence[int]) -> None:
        for word in {kind.excludes for kind, _ in self._here(group)} - {""}:
            lies = Counter[int]()
            for place in members:
                lies[place] = sum(count for kind, count in self._nodes[place].pods.items() if kind.excludes == word)
            arriving = {column: 1.0 for kind, column in self._here(group) if kind.excludes == word}
            kept = {place: max(1.0 - count, 0.0) for place, count in lies.items()}
            self.below.add({**arriving, **kept}, sum(kept.values()))

    def _here(self, group: Hashable) -> list[tuple[BoundClass, int]]:
        pairs = ((kind, self.column.get((kind, group))) for kind in self._classes)
        return [(kind, column) for kind, column in pairs if column is not None]


def _may(kind: BoundClass, group: Hashable) -> bool:
    return kind.groups is None or group in kind.groups


def _whole(free: Sequence[float], requests: Sequence[float]) -> int:
    return max(0, min(int(have // need) for have, need in zip(free, requests, strict=True) if need > 0))


def _at_least(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(mine >= its for mine, its in zip(one, other, strict=True))
