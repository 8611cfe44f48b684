"""The bound of the benches: the linear program holds every plan, and no plan saves more."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from random import Random

import pytest

from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.bench.linear_bound import BoundClass, BoundNode, Program, most_saved
from tests.bench.quality import GOALS, measured

SEEDS = range(60)
TOLERANCE = 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_every_plan_satisfies_every_row_of_the_program(seed: int) -> None:
    nodes = drawn(seed)
    program, found = Program(nodes), 0
    for gone, placed in plans(nodes):
        found += 1
        point = dict[int, float].fromkeys(gone, 1.0)
        for kind, target in placed:
            column = program.column[kind, nodes[target].group]
            point[column] = point.get(column, 0.0) + 1.0
        for row, right in zip(program.equal.left, program.equal.right, strict=True):
            assert value(row, point) == pytest.approx(right)
        for row, right in zip(program.below.left, program.below.right, strict=True):
            assert value(row, point) <= right + TOLERANCE
    assert found


@pytest.mark.parametrize("seed", SEEDS)
def test_no_plan_saves_more_than_the_bound(seed: int) -> None:
    nodes = drawn(seed)
    best = max(sum(nodes[place].cost for place in gone) for gone, _ in plans(nodes))
    assert best <= most_saved(nodes) + TOLERANCE


def test_the_program_is_tight_where_whole_pods_and_zones_decide() -> None:
    """Five nodes at 55 % with one pod each: the free sums hold two of them, and no node takes one."""
    big = BoundClass((0.55, 1.0))
    assert most_saved([BoundNode(1.0, (0.45, 9.0), pods={big: 1}) for _ in range(5)]) == pytest.approx(0.0)
    zonal = BoundClass((0.55, 1.0), frozenset({"a"}))
    empty = [BoundNode(1.0, (1.0, 9.0), zone) for zone in "ab"]
    assert most_saved([BoundNode(5.0, (0.4, 9.0), "a", {zonal: 2}), *empty]) < 5.0 + 1.0


def test_pods_that_exclude_each_other_need_as_many_nodes() -> None:
    port = BoundClass((0.1, 1.0), excludes="port 80")
    nodes = [BoundNode(1.0, (0.9, 9.0), pods={port: 1}) for _ in range(4)]
    assert most_saved(nodes) == pytest.approx(0.0)


def drawn(seed: int) -> list[BoundNode]:
    roll = Random(seed)  # noqa: S311 - a test's data
    kinds = [
        BoundClass(
            (roll.choice((1.0, 2.0, 3.0)), roll.choice((1.0, 2.0)), 1.0),
            roll.choice((None, None, frozenset({"a"}))),
            roll.choice(("", "", "port 80")),
        )
        for _ in range(4)
    ]
    return [drawn_node(roll, kinds) for _ in range(5)]


def drawn_node(roll: Random, kinds: Sequence[BoundClass]) -> BoundNode:
    pods: dict[BoundClass, int] = {}
    for kind in roll.choices(kinds, k=roll.randint(0, 2)):
        pods[kind] = pods.get(kind, 0) + 1
    free = (float(roll.randint(-1, 4)), float(roll.randint(0, 4)), float(roll.randint(0, 3)))
    return BoundNode(float(roll.randint(1, 5)), free, roll.choice("ab"), pods, pinned=roll.random() < 0.1)


Placed = tuple[tuple[BoundClass, int], ...]


def plans(nodes: Sequence[BoundNode]) -> Iterator[tuple[tuple[int, ...], Placed]]:
    """Yield every set of nodes that may go, with one placement of each way that its pods could lie."""
    removable = [place for place, found in enumerate(nodes) if not found.pinned]
    for gone in chain.from_iterable(combinations(removable, size) for size in range(len(nodes))):
        moving = [kind for place in gone for kind, count in nodes[place].pods.items() for _ in range(count)]
        kept = [place for place in range(len(nodes)) if place not in gone]
        for placed in placements(nodes, kept, moving, ()):
            yield gone, placed


def placements(
    nodes: Sequence[BoundNode], kept: Sequence[int], moving: Sequence[BoundClass], placed: Placed
) -> Iterator[Placed]:
    if not moving:
        yield placed
        return
    for target in kept:
        if takes(nodes[target], moving[0], [kind for kind, where in placed if where == target]):
            yield from placements(nodes, kept, moving[1:], (*placed, (moving[0], target)))


def takes(there: BoundNode, kind: BoundClass, arrived: Sequence[BoundClass]) -> bool:
    if kind.groups is not None and there.group not in kind.groups:
        return False
    beside = [*arrived, *there.pods]
    if kind.excludes and any(other.excludes == kind.excludes for other in beside):
        return False
    used = [sum(other.requests[axis] for other in arrived) for axis in range(3)]
    return all(used[axis] + kind.requests[axis] <= there.free[axis] for axis in range(3))


def value(row: Mapping[int, float], point: Mapping[int, float]) -> float:
    return sum(amount * point.get(column, 0.0) for column, amount in row.items())


@pytest.mark.parametrize("mix", list(GOALS))
def test_what_is_found_breaks_no_rule_and_does_not_beat_the_bound(mix: Mix) -> None:
    found = measured(generated(30, mix))
    assert found.freed
    assert bool(found.pinned) is (mix is Mix.MIXED)
