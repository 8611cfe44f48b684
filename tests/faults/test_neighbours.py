"""Nodes that GKE or others speak for are left alone, hold nothing up, and break no promise."""

from dataclasses import replace
from itertools import chain

import pytest

from tests.faults.catalog import each_call
from tests.faults.history import History, run
from tests.faults.neighbours import NEIGHBOURS, BecomeNeighbour
from tests.faults.oracle import breaches
from tests.faults.running import Record, assert_kept
from tests.faults.worlds import Limits, Setting, setting, workload

EMPTY, USED = 5, 0
"""Which node becomes the neighbour: it would be the first to go, and one in use is Ebb's alone to drain."""
PLACES = dict.fromkeys(NEIGHBOURS, EMPTY) | {"maintenance planned": USED}


def world() -> Setting:
    """Six nodes, one of them empty, of which one may be disrupted at a time; the autoscaler takes only empty ones."""
    limits = Limits(pool=1, ceiling=1)
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    return setting("beside a neighbour", [web, workload("api", [3, 4])], nodes=6, limits=limits, threshold=0.0)


def history(what: str) -> History:
    return History(world(), acts=((0.0, BecomeNeighbour(what, PLACES[what])),))


@pytest.mark.parametrize("what", NEIGHBOURS)
def test_a_node_that_others_speak_for_is_left_alone_and_holds_no_other_up(what: str) -> None:
    end = run(history(what))
    name = end.cloud.node_names["web"][PLACES[what]]
    patched = [call.what for call in end.call_gate.calls if call.what.startswith("patch")]

    assert breaches(end) == []
    assert not any(name in each for each in patched)
    assert patched, "the other nodes go as if it were not there"


@pytest.mark.slow
@pytest.mark.parametrize("what", NEIGHBOURS)
def test_nothing_that_happens_at_a_call_beside_it_breaks_the_promise(what: str, record_property: Record) -> None:
    base = history(what)
    families = chain.from_iterable(each_call(family, base.setting) for family in ("kill", "failure", "pause"))
    assert_kept((replace(each, acts=base.acts) for each in families), record_property, parts=25)
