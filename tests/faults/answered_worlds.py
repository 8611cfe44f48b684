"""Small worlds whose pods name who answers for their eviction, in a cluster that serves EvictionRequests."""

from dataclasses import replace
from functools import cache
from typing import Final

from tests.faults.worlds import Limits, Setting, setting, workload

MOVER: Final = "storage.example.com/mover"
_NAMED: Final = {"pod": {"evictionResponders": [{"name": MOVER, "priority": 1000}]}}
PROMPT: Final = "a responder that lets go"


@cache
def answered_settings() -> tuple[Setting, ...]:
    """The worlds: one that lets go, one that says nothing until the Eviction API takes its place, and no controller."""
    limits = Limits(timeout=1260.0, responders="request", minimum_nodes=2, pool_minimum=0)
    web = workload("web", [0, 1, 2, 3], cpu=400, pdb={"maxUnavailable": 1})
    own = [web, workload("db", [0, 1, 2, 3], kind="StatefulSet", cpu=300, **_NAMED)]

    def world(name: str, responders: dict[str, float] | None) -> Setting:
        made = setting(name, own, nodes=4, limits=limits, threshold=0.0)
        served = {"eviction_requests": True, "responders": responders}
        return replace(made, scenario=made.scenario.model_copy(update=served))

    return (
        world(PROMPT, {MOVER: 15.0}),
        world("a responder that says nothing", {}),
        world("nothing acts on requests", None),
    )
