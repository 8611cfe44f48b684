"""The scheduler's rules about what else lies on a node or in its domain: one module each, `CONSTRAINTS` lists them.

To add one, write a module with a `Constraint` (fixed for a snapshot) and its `ConstraintState` (`exclusion` is the
example), its line in `CONSTRAINTS`, its line out of `rules.unmodelled.UNMODELLED`, and a table of its cases in
`tests/core/`: `test_constraints.py` fails until these agree.
"""

from typing import Final

from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.constraint import NewConstraint
from shared.core.placement.constraints.exclusion import AntiAffinity, HostPorts, OnePodClaims
from shared.core.placement.constraints.pod_affinity import RequiredAffinity
from shared.core.placement.constraints.topology_spread import TopologySpread
from shared.core.placement.constraints.volume_place import VolumePlace

CONSTRAINTS: Final[tuple[NewConstraint, ...]] = (
    AntiAffinity, RequiredAffinity, HostPorts, TopologySpread, VolumePlace, OnePodClaims, AttachLimits,
)  # fmt: skip
"""In this order they are asked; a node must be allowed by all of them."""
