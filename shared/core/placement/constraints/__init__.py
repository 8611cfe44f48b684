"""The scheduler's rules about what else lies on a node or in its domain: one module each, `CONSTRAINTS` lists them.

`ClusterArrays` and `Packing` know this tuple only, so the proofs of a plan, an order and demand ask the same rules.
To add one:

1. a module here with a `Constraint` (fixed for a snapshot) and its `ConstraintState` (what changes with every move);
   `constraint.py` documents each method, `anti_affinity` is the example;
2. its line in `CONSTRAINTS`;
3. its line out of `rules.unmodelled.UNMODELLED`, or the question there narrowed to what stays unmodelled;
4. a table of its cases in `tests/core/`. `test_constraints.py` lists which rules of a pod are modelled and fails until
   1 to 3 agree with it; `tests/properties/test_constraint_laws.py` asks its laws of every line of the tuple.
"""

from typing import Final

from shared.core.placement.constraints.anti_affinity import AntiAffinity
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.constraint import (
    Constraint,
    ConstraintInput,
    Constraints,
    ConstraintState,
    ConstraintStates,
    NewConstraint,
)
from shared.core.placement.constraints.host_ports import HostPorts
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import OnePodClaims, VolumePlace

CONSTRAINTS: Final[tuple[NewConstraint, ...]] = (
    AntiAffinity, RequiredAffinity, HostPorts, TopologySpread, VolumePlace, OnePodClaims, AttachLimits,
)  # fmt: skip
"""In this order they are asked; a node must be allowed by all of them."""

__all__ = (
    "CONSTRAINTS",
    "Constraint",
    "ConstraintInput",
    "ConstraintState",
    "ConstraintStates",
    "Constraints",
    "NewConstraint",
)
