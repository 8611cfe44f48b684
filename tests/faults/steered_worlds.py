"""Small worlds in which Ebb steers scale-in: more nodes could go than may go at once, and workloads lie on several."""

from functools import cache
from random import Random
from typing import Final

from tests.faults.people import BESIDE_STEERING, Act
from tests.faults.worlds import Limits, Setting, setting, workload

_SLOW: Final = Limits(pool=1, ceiling=1, minimum_nodes=2, starts_per_hour=1, steers=True)
"""One drain an hour: what else could go has to wait, and is steered meanwhile."""
ACTS: Final = (
    ((20.0, Act("shrink")),),
    ((20.0, Act("shrink")), (110.0, Act("shrink", 1))),
    ((95.0, Act("rank", 1)), (120.0, Act("shrink"))),
    ((5.0, Act("rank")), (100.0, Act("rank", 2)), (190.0, Act("grow"))),
    ((100.0, Act("stop steering")),),
    ((100.0, Act("pause")),),
    ((100.0, Act("pause flag")), (250.0, Act("resume flag"))),
    ((100.0, Act("dry run")),),
    ((100.0, Act("cordon", 1)), (101.0, Act("cordon", 2))),
    ((100.0, Act("grow")), (101.0, Act("rival"))),
    ((100.0, Act("lose the state")), (130.0, Act("shrink"))),
    ((100.0, Act("stop steering")), (110.0, Act("rank", 1))),
)
"""What people do meanwhile, beside what is done to single calls."""


@cache
def steered_settings() -> tuple[Setting, ...]:
    """The worlds."""
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3, 4], cpu=300)
    db = workload("db", [1, 2], kind="StatefulSet")
    return (
        setting("steered", [web, api], limits=_SLOW, enabled=False),
        setting("steered beside others", [web, api, db], limits=_SLOW),
    )


def ranks_or_scales_in(random: Random, setting: Setting) -> tuple[float, Act]:
    """Draw what people do only where scale-in is steered, and when."""
    del setting
    return float(random.randrange(240)), Act(random.choice(tuple(BESIDE_STEERING)), random.randrange(5))
