"""Makes the plan of equal passes once: most histories of a world are alike until their fault strikes.

The plan is a value of what a pass has read, so equal passes have equal plans. One of so many is made all the same, and
must equal the one that is kept. Mutants and directed histories make each plan.
"""

import copyreg
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final

from functions.planner import plan_pass
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan
from shared.core.rules.situation import Situation
from tests.faults.mutants import swapped

MOST: Final = 500  # Plans that are kept: those of the last few worlds.
CHECK: Final = 20  # One of so many plans that are known is made again.
_PICKLED_AS: Final[dict[type, Callable[[Any], Any]]] = {
    **copyreg.dispatch_table,
    MappingProxyType: lambda view: (dict, (dict(view),)),
}
"""A read-only view has no pickle of its own."""


class EqualPlans:
    """A `make_plan` that remembers. All passes have the same prices."""

    def __init__(self) -> None:
        self._plans: dict[bytes, Plan] = {}
        self._known = 0

    def __call__(self, situation: Situation, *rest: Any) -> Plan:
        marks, _, interval, wave, options = rest
        key = _key(situation, marks, interval, wave, options.brake())
        made = kept = self._plans.pop(key, None)
        self._known += kept is not None
        if made is None or self._known % CHECK == 0:
            made = make_plan(situation, *rest)
        assert kept in (None, made), "two passes that have read the same have different plans"
        self._plans[key] = made
        if len(self._plans) > MOST:
            del self._plans[next(iter(self._plans))]
        return made


def _key(situation: Situation, *others: object) -> bytes:
    """Return what stands for all that a plan rests on; time stands still while it is made, and so does the brake.

    Equal values that share their parts in another way have another key: then their plan is made twice.
    """
    snapshot = [getattr(situation.snapshot, row.name) for row in fields(situation.snapshot)]
    data = io.BytesIO()
    pickler = pickle.Pickler(data, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _PICKLED_AS
    pickler.dump((snapshot, situation.state, situation.policy, others))
    return blake2b(data.getbuffer()).digest()


_PLANS: Final = EqualPlans()


@contextmanager
def equal_plans_made_once() -> Iterator[None]:
    with swapped((plan_pass, "make_plan", _PLANS)):
        yield
