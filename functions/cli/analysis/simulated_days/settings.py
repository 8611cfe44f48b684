"""How long things take in a simulated cluster, where neither its profile nor its pods set it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from functions.cli.analysis.forecast.autoscaler import DELETION
from shared.core.cluster.autoscaling import BALANCED, Profile


@dataclass(frozen=True, slots=True)
class Delays:
    """Durations of the world; the autoscaler's are cluster-autoscaler's defaults and GKE's profile."""

    boot: timedelta = timedelta(seconds=90)
    """From the order of a machine until pods can start on it."""
    ready: timedelta = timedelta(seconds=10)
    """From a pod's binding until it is Ready."""
    interval: timedelta = timedelta(minutes=5)
    """Between two passes of Ebb."""
    claim: timedelta = timedelta(seconds=10)
    """From the pass to the claim and the cordon."""
    deletion: timedelta = DELETION
    longest_end: timedelta = timedelta(hours=1)
    """How long a pod takes to end at most, however long its grace is."""


DELAYS: Final = Delays()


@dataclass(frozen=True, slots=True)
class Loop:
    """How the autoscaler of a profile goes round (the chart of GoogleCloudPlatform/cluster-autoscaler)."""

    scan: timedelta = timedelta(seconds=10)
    recheck: timedelta = timedelta(minutes=5)
    """How long a node that could not go is not looked at again."""
    after_drain: timedelta = timedelta(seconds=10)
    """From the deletion of a node with pods until the next removal."""
    retry: timedelta = timedelta(seconds=10)
    """Between two rounds of evictions of one node."""


LOOP: Final = Loop()
PACKING_LOOP: Final = Loop(scan=timedelta(seconds=5), recheck=timedelta(seconds=20), after_drain=timedelta(seconds=5))


def loop_of(profile: Profile) -> Loop:
    return LOOP if profile is BALANCED else PACKING_LOOP
