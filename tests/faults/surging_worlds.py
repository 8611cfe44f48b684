"""Small worlds in which single replicas are moved without a gap, or not at all."""

from functools import cache
from random import Random
from typing import Any, Final

from shared.core.cluster.names import SURGE_STAMP
from tests.faults.installation import Installation
from tests.faults.provider import Deed, noted
from tests.faults.worlds import STAYS, Limits, Setting, setting, workload

SURGED: Final = ("one", "two", "shut")
"""The Deployments whose pods leave without a gap, by the label `app`."""
_FEW: Final = Limits(minimum_nodes=1, pool_minimum=0, single_replicas="surge")
_REAPER: Final[dict[str, Any]] = {"threshold": 0.0}
"""An autoscaler that moves no pod itself."""
NEVER_READY: Final = "a new pod that never gets Ready"


@cache
def surging_settings() -> tuple[Setting, ...]:
    """The worlds; in the last one no rollout ends by itself."""
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    one, two = workload("one", [0], cpu=300), workload("two", [1], cpu=300)
    shut = workload("shut", [2], cpu=300, pdb={"maxUnavailable": 0})

    def kept(*nodes: int) -> list[dict[str, Any]]:
        return [workload(f"kept{node}", [node], cpu=200, **STAYS) for node in nodes]

    on_one = [web, one, {**two, "nodes": ["web/0"]}, *kept(1, 2, 3, 4)]
    never = [web, {**one, "readyAfter": 9999}, *kept(1, 2, 3, 4)]
    return (
        setting("two single replicas", [web, one, two, *kept(2, 3, 4)], limits=_FEW, **_REAPER),
        setting("two on one node", on_one, limits=_FEW, **_REAPER),
        setting("a single replica under a shut budget", [web, shut, *kept(0, 1, 3, 4)], limits=_FEW, **_REAPER),
        setting(NEVER_READY, never, limits=_FEW, **_REAPER),
    )


def stamps(end: Installation) -> set[str]:
    found = end.cloud.world.store.all("deployments")
    return {
        thing["metadata"]["name"]
        for thing in found
        if SURGE_STAMP in (thing["spec"]["template"]["metadata"].get("annotations") or {})
    }


def roll_out(name: str) -> Deed:
    return noted(f"{name} is rolled out anew", name, version="2")


def undo_restart(name: str) -> Deed:
    """Its owner takes the newest restart back (`kubectl rollout undo`)."""
    return noted(f"the restart of {name} is undone", name, **{SURGE_STAMP: None})


def rolls_out(random: Random, setting: Setting) -> tuple[float, Deed]:
    """Draw what an owner does to a Deployment whose pod leaves without a gap, and when."""
    act = random.choice((roll_out, roll_out, undo_restart))
    name = random.choice([name for name in SURGED if name in setting.apps])
    return float(random.choice((random.randrange(40), random.randrange(240)))), act(name)
