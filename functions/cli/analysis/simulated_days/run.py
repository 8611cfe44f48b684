"""READ FIRST here. One stretch of time of one cluster, by its autoscaler alone or with Ebb: equal input, equal days."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from functions.cli.analysis.simulated_days.autoscaler import ScalingLoop
from functions.cli.analysis.simulated_days.ebb import Ebb
from functions.cli.analysis.simulated_days.measures import PlayedTotals, PodWait, outcome
from functions.cli.analysis.simulated_days.patterns import Demand
from functions.cli.analysis.simulated_days.pod_lives import scale
from functions.cli.analysis.simulated_days.scale_up import NodeTemplates, Scheduler
from functions.cli.analysis.simulated_days.world import DELAYS, NO_ONLOOKER, Delays, Onlooker, World
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import NO_COMMITMENTS, Commitments


@dataclass(frozen=True)
class Days:
    """What is played: the cluster as it begins, the demand by time, and how long things take."""

    snapshot: Snapshot
    prices: Prices
    demand: Demand
    lasts: timedelta
    delays: Delays = DELAYS
    commitments: Commitments = NO_COMMITMENTS
    throw: int = 0  # Another number is another throw of the autoscaler's dice.

    @property
    def ends(self) -> datetime:
        return self.snapshot.taken_at + self.lasts


def simulate(days: Days, policy: Policy | None = None, onlooker: Onlooker = NO_ONLOOKER) -> PlayedTotals:
    """Return the totals: without a policy of the autoscaler alone, else of Ebb at work, also where it is in dry run."""
    begins = days.snapshot.taken_at
    world = World(days.snapshot, days.prices, days.delays, begins, onlooker=onlooker, commitments=days.commitments)
    scheduler, autoscaler = Scheduler(world), ScalingLoop(world, NodeTemplates(days.snapshot), days.throw)
    _note(world, days.demand)
    if policy is not None:
        Ebb(world, replace(policy, dry_run=False, paused=False), days.prices).begin()
    world.sample()
    world.agenda.note(world.now, lambda: None)
    while (at := world.agenda.next_at) is not None and at < days.ends:
        world.now = at
        for action in world.agenda.due(at):
            action()
        scheduler.step()
        autoscaler.watch()
        world.sample()
    world.now = days.ends
    waits = world.pending.items()
    world.measures.waits += [PodWait(since, days.ends - since, world.moved_by(key)) for key, since in waits]
    return outcome(world.measures, days.snapshot.taken_at, days.ends)


def _note(world: World, demand: Demand) -> None:
    living = world.controlled.living
    # any pod that is there shows what another one would be
    templates = {key: min(pods.items())[1].spec for key, pods in living.items() if key and pods}
    for change in demand:
        if change.controller in templates:
            world.agenda.note(change.at, partial(scale, world, templates[change.controller], change.replicas))
