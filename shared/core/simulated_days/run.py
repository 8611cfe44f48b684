"""READ FIRST here. One stretch of time of one cluster: with its autoscaler alone, or with Ebb beside it.

What happens next is taken from an agenda; after each moment the scheduler and the autoscaler see what is new. Equal
input gives equal days. Must not compare: whoever asks for several runs does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.simulated_days.autoscaler import Autoscaler
from shared.core.simulated_days.controllers import NodeTemplates, Replicas
from shared.core.simulated_days.demand import Demand, JobRun, Wish
from shared.core.simulated_days.ebb import Ebb
from shared.core.simulated_days.history import NO_HISTORY, History
from shared.core.simulated_days.measures import Outcome, Wait, outcome
from shared.core.simulated_days.scheduler import Scheduler
from shared.core.simulated_days.settings import Delays
from shared.core.simulated_days.world import World


@dataclass(frozen=True)
class Plan:
    """What is played: the cluster as it begins, what is wanted of it when, and how long things take."""

    picture: Snapshot
    prices: Prices
    demand: Demand
    lasts: timedelta
    delays: Delays = Delays()

    @property
    def ends(self) -> datetime:
        return self.picture.taken_at + self.lasts


def simulate(plan: Plan, policy: Policy | None = None, history: History = NO_HISTORY) -> Outcome:
    """Return what the stretch comes to; without a policy the autoscaler is alone.

    A policy that is in dry run or paused counts as if it were at work.
    """
    world = World(plan.picture, plan.prices, plan.delays, plan.picture.taken_at, history=history)
    scheduler, autoscaler = Scheduler(world), Autoscaler(world, NodeTemplates(plan.picture))
    _note(world, plan.demand)
    if policy is not None:
        Ebb(world, replace(policy, dry_run=False, paused=False), plan.prices).begin()
    world.sample()
    world.agenda.note(world.now, lambda: None)
    while (at := world.agenda.next_at) is not None and at < plan.ends:
        world.now = at
        for action in world.agenda.due(at):
            action()
        scheduler.step()
        autoscaler.watch()
        world.sample()
        history.stepped(world)
    world.now = plan.ends
    world.measures.waits += [Wait(since, plan.ends - since, key in world.times_moved) for key, since in world.pending.items()]
    return outcome(world.measures, plan.picture.taken_at, plan.ends, plan.demand.ramps)


def _note(world: World, demand: Demand) -> None:
    replicas = Replicas(world)
    for wish in demand.wishes:
        if replicas.knows(wish.controller):
            world.agenda.note(wish.at, lambda wish=wish: replicas.scale(wish.controller, wish.replicas))
    for job in demand.jobs:
        world.agenda.note(job.at, lambda job=job: replicas.run_job(job.spec, job.pods, job.lasts))


__all__ = ["Demand", "JobRun", "Plan", "Sequence", "Wish", "simulate"]
