"""Committed use as the Compute API lists it, the part that counts for a cluster's nodes, and how old a list may be."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Final

import msgspec

from shared.core.policy.values import NO_COMMITMENTS, YEARS, Capacity, Commitment, Commitments

ACTIVE: Final = "ACTIVE"
_VCPU: Final = "VCPU"
_MEMORY: Final = "MEMORY"
_MIB_PER_GIB: Final = 1024
_FAMILIES: Final[Mapping[str, str]] = {
    "GENERAL_PURPOSE": "n1",
    "COMPUTE_OPTIMIZED": "c2",
    "ACCELERATOR_OPTIMIZED": "a2",
    "GRAPHICS_OPTIMIZED": "g2",
    **{f"GENERAL_PURPOSE_{name.upper()}": name for name in ("c4", "c4a", "c4d", "e2", "n2", "n2d", "n4", "t2d")},
    **{f"COMPUTE_OPTIMIZED_{name.upper()}": name for name in ("c2d", "c3", "c3d", "h3", "h4d")},
    **{f"MEMORY_OPTIMIZED_{name.upper()}": name for name in ("m3", "m4", "x4")},
    "STORAGE_OPTIMIZED_Z3": "z3",
    "ACCELERATOR_OPTIMIZED_A3": "a3",
    "GRAPHICS_OPTIMIZED_G4": "g4",
}
"""By type: the machine family (Compute API, Commitment.type). MEMORY_OPTIMIZED is not here: it covers M1 and M2."""
_DISCOUNTS: Final[Mapping[str, Fraction]] = {"TWELVE_MONTH": Fraction(37, 100), "THIRTY_SIX_MONTH": Fraction(55, 100)}
"""By plan: the share off the list price that is published for general-purpose families; a list holds no price.

For others it is an estimate. It decides what a commitment costs and what idles, and no choice.
"""


class ListedResource(msgspec.Struct, frozen=True):
    """An amount of one resource: vCPUs, MiB of memory, or something that no bill of Ebb has."""

    type: str
    amount: Annotated[int, msgspec.Meta(ge=0, le=10**12)] = 0


class ListedCommitment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    status: str
    plan: str
    type: str = ""
    region: str = ""  # The URL of the region, or its name.
    category: str = "MACHINE"
    end_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    auto_renew: bool = False
    resources: tuple[ListedResource, ...] = ()

    def amount(self, resource: str) -> int:
        return sum(row.amount for row in self.resources if row.type == resource)


@dataclass(frozen=True)
class CountedCommitments:
    families: tuple[Commitment, ...]
    left_out: Mapping[str, tuple[str, ...]]  # By why it does not count: the names.
    unknown: tuple[str, ...]  # Types of commitments for which no machine family is known.


def count_commitments(rows: Iterable[ListedCommitment], region: str) -> CountedCommitments:
    """Return what of a project's commitments counts in a region; without a region all of them do."""
    families, unknown = [], set()
    left_out: dict[str, tuple[str, ...]] = {}
    for row in rows:
        why = next(_why_not(row, region), "")
        if why:
            left_out[why] = (*left_out.get(why, ()), row.name)
        elif row.type not in _FAMILIES:
            unknown.add(row.type)
        else:
            families.append(_commitment(row))
    return CountedCommitments(tuple(families), dict(sorted(left_out.items())), tuple(sorted(unknown)))


def unknown_types(found: CountedCommitments) -> str:
    """Return the sentence on commitments of unknown types; empty if there are none."""
    types = ", ".join(found.unknown)
    return f"Commitments of type {types} count for nothing: their machine family is not known." if types else ""


def _why_not(row: ListedCommitment, region: str) -> Iterator[str]:
    own = row.region.rpartition("/")[2]
    if row.category == "LICENSE":
        yield "of licenses"
    if region and own and own != region:
        yield f"of {own}"
    if row.status != ACTIVE:
        yield row.status.lower().replace("_", " ")
    if not row.amount(_VCPU) and not row.amount(_MEMORY):
        yield "of neither vCPUs nor memory"


def _commitment(row: ListedCommitment) -> Commitment:
    """Return what it commits to. One that renews itself has no end; an unknown plan counts as one of a year."""
    end = row.end_timestamp
    return Commitment(
        _FAMILIES[row.type],
        Capacity(Fraction(row.amount(_VCPU)), Fraction(row.amount(_MEMORY), _MIB_PER_GIB)),
        None if row.auto_renew or end is None or end.year not in YEARS else end,
        _DISCOUNTS.get(row.plan, _DISCOUNTS["TWELVE_MONTH"]),
    )


READ_AGAIN: Final = timedelta(hours=1)  # How old a list is when the planner reads it again.
RETRIED: Final = timedelta(minutes=15)  # How long after a failure it is read again.
KEPT: Final = timedelta(hours=24)  # How old a list may be that plans still use; a commitment begins or ends on a day.


class CommitmentBasis(StrEnum):
    """What the figures of a pass rest on where the policy has `cluster.commitments.read`."""

    READ = "read"
    STALE = "stale"  # The last list, for reading it failed since.
    LIST_PRICES = "list_prices"  # No list is young enough: each node counts at its list price.


class CommitmentReading(msgspec.Struct, frozen=True, kw_only=True):
    """The document `clusters/{key}/commitments/current`: the last list, and the last attempt to read one."""

    rows: tuple[ListedCommitment, ...] = ()
    read_at: datetime | None = None  # None where none was ever read.
    tried_at: datetime | None = None
    fault: str = ""  # Why the last attempt failed; empty if it did not.

    def is_due(self, now: datetime) -> bool:
        # A failed reading is tried again sooner.
        return self.tried_at is None or now - self.tried_at >= (RETRIED if self.fault else READ_AGAIN)

    def basis(self, now: datetime) -> CommitmentBasis:
        if self.read_at is None or now - self.read_at > KEPT:
            return CommitmentBasis.LIST_PRICES
        return CommitmentBasis.STALE if self.fault else CommitmentBasis.READ

    def applied_to(self, commitments: Commitments, region: str, now: datetime) -> Commitments:
        """Return the commitments with the listed families; none at all where no list is young enough."""
        if self.basis(now) is CommitmentBasis.LIST_PRICES:
            return NO_COMMITMENTS
        return replace(commitments, families=count_commitments(self.rows, region).families)
