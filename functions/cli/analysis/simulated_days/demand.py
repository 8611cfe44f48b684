"""What is wanted of a simulated cluster when: replicas of its workloads, and Jobs that come and go.

Must not know where the pattern comes from: curves, files and log lines are read elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.core.cluster.pod import PodClass


@dataclass(frozen=True, slots=True)
class Wish:
    """From then on a controller (`PodClass.workload`) asks for so many replicas."""

    at: datetime
    controller: str
    replicas: int


@dataclass(frozen=True, slots=True)
class JobRun:
    """So many pods that run for a while, and are gone."""

    at: datetime
    spec: PodClass
    pods: int
    lasts: timedelta


@dataclass(frozen=True)
class Demand:
    """Everything that is wanted, in order of time; `ramps` are when the whole of it rises to its highest of a day."""

    wishes: Sequence[Wish] = ()
    jobs: Sequence[JobRun] = ()
    ramps: Sequence[tuple[datetime, datetime]] = ()
