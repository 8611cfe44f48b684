"""How much of what any choice of machine types could save `ebb shapes` saves, on drawn clusters.

The bound is loose where many pods may run on few nodes. `QUICK=1` judges a few trials.
"""

from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from functions.cli.analysis.shapes.advice import Advice, advise
from functions.cli.analysis.shapes.offers import NewGroup
from functions.cli.analysis.shapes.study import ShapeRequest, Study, headroom, waiting_kinds
from functions.cli.input.inputs import EVERY_POOL
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.planning.bill import Bill
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.shapes.drawn_clusters import FILLS, KINDS, PRICES, drawn
from tests.bench.shapes.lower_bound import Problem, lower_bound
from tests.measured_figures import say, timed

MOST_SECONDS: Final = 15.0
LEAST: Final = 0.6


def share(found: Advice, situation: Situation, bill: Bill, request: ShapeRequest) -> float:
    """Return what is saved, less what moves count for, as a share of what any choice could save at most."""
    study = Study(situation, bill, request)
    most = found.now - least_cost(study)
    return min(max((found.saving - study.moving * found.moved) / most, 0.0), 1.0) if most > 0 else 1.0


def least_cost(study: Study) -> int:
    """Return what any choice of machine types costs at least at list prices, in micro-dollars an hour."""
    machines = [(offer.pool, kind.name) for offer in study.offered for kind in offer.types]
    groups = [NewGroup(*row, group.zone) for row in machines for group in study.new_nodes.groups(*row)]
    arrays = ClusterArrays(study.new_nodes.added_to(study.snapshot, dict.fromkeys(groups, 1)))
    new = [arrays.index[study.new_nodes.node(group, 0).name] for group in groups]
    old = [arrays.index[node.name] for node in study.snapshot.nodes if not node.outside]
    prices = np.array([study.bill.prices.of(node).per_hour for node in arrays.nodes], np.float64)
    goes = np.array([arrays.nodes[place].name in study.may_go for place in old], np.bool_)
    own = np.zeros((len(old), len(arrays.classes)))
    for row in np.flatnonzero(goes):
        np.add.at(own[row], [arrays.kind_of[pod.spec] for pod in arrays.movable(old[row])], 1)
    room = np.where(arrays.destinations, arrays.free - headroom(arrays, study.request.fill), 0)
    free = room.clip(0).T.astype(np.float64)
    demand, admitting = own.sum(axis=0), np.array([arrays.admitting(kind) for kind in range(len(arrays.classes))])
    fitting = [
        kind
        for kind in waiting_kinds(arrays)
        if ((arrays.requests[:, kind] <= free).all(axis=1) & admitting[kind]).any()
    ]
    np.add.at(demand, fitting, 1)
    moving = study.moving * own.sum(axis=1)
    found = lower_bound(Problem(
        requests=arrays.requests.T.astype(np.float64), pods=demand, costs=prices[new], room=free[new],
        admitted=admitting[:, new], own=own, kept=np.where(goes, prices[old] - moving, -np.inf), free=free[old],
        admitted_there=admitting[:, old],
    ))  # fmt: skip
    return max(int(found + moving.sum()), 0) + int(prices[old][~goes].sum())


def run(*, quick: bool) -> None:
    request = ShapeRequest(fill=100, trials=100) if quick else ShapeRequest(fill=100)
    bill = Bill(PRICES)
    for name, kind in KINDS.items():
        for fill in FILLS:
            situation = Situation(drawn(kind, fill), ClusterState(), EVERY_POOL)
            seconds, found = timed(partial(advise, situation, bill, request))
            saved = f"saves {found.saving / found.now:.1%}, {1 - Fraction(found.steady, found.now):.1%} without"
            words = f"{name}, {fill:.0%} booked: {saved}, {found.moved} pods"
            say(words, f"{share(found, situation, bill, request):.2f} of bound, {seconds:.0f} s", f">= {LEAST}")
