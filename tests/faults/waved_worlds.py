"""Small worlds in which Ebb drains in waves: one node at a time, so that the others are held softly meanwhile."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT
from shared.core.records.state import Wave
from shared.port_types import WAVE_KEY
from tests.faults.installation import Installation
from tests.faults.people import Act
from tests.faults.replay import SOFT
from tests.faults.worlds import Limits, Setting, setting, workload

_WAVED: Final = Limits(pool=1, ceiling=1, minimum_nodes=2, waves=True)
ACTS: Final = (
    ((20.0, Act("grow")),),
    ((100.0, Act("pause")),),
    ((100.0, Act("pause flag")), (250.0, Act("resume flag"))),
    ((100.0, Act("dry run")),),
    ((100.0, Act("cordon", 1)), (101.0, Act("cordon", 2))),
    ((100.0, Act("grow")), (101.0, Act("rival"))),
    ((100.0, Act("lose the state")), (130.0, Act("grow"))),
)
"""What people do meanwhile, beside what is done to single calls."""


@cache
def waved_settings() -> tuple[Setting, ...]:
    """The worlds."""
    web, api = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1}), workload("api", [1, 2, 3, 4], cpu=300)
    db = workload("db", [1, 2], kind="StatefulSet")
    return (
        setting("waved", [web, api], limits=_WAVED),
        setting("waved beside others", [web, api, db], limits=_WAVED, enabled=False),
    )


def left_held(end: Installation) -> Iterator[str]:
    """Yield the nodes that carry the soft taint though no living wave names them, and nobody deletes them."""
    found = end.state.all(WAVE_KEY.collection, Wave).get(WAVE_KEY.id)
    wave = found.value if found else None
    living = {node.name for node in wave.nodes} if wave and end.clock.now() < wave.deadline.timestamp() else set()
    for node in end.cloud.world.store.all("nodes"):
        name, taints = node["metadata"]["name"], node["spec"].get("taints") or []
        keys = {taint["key"] for taint in taints}
        if name not in living and SOFT in keys and AUTOSCALER_DELETING_TAINT not in keys:
            yield name
