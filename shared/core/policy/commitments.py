"""How a policy names committed use: of machine families, in dollars an hour, and who else uses it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from shared.core.policy.field import Field
from shared.core.policy.scalars import CLUSTER_NAME_PATTERN, DISCOUNT_PATTERN, at, cluster_name, decimal_of, share_off
from shared.core.policy.shapes import FLAG, MOMENT, Block, ByName, ListOf, Single
from shared.core.policy.values import DEFAULT_ZONE, Capacity, Commitment, Commitments, FlexibleCommitment

ONE_YEAR: Final = "37%"  # Google's published discount for a year, of all families priced by vCPU (docs/policy.md).
_FLEXIBLE_ONE_YEAR: Final = "28%"

_NUMBER: Final = {"type": "number", "minimum": 0}
_VCPU: Final = Field(
    "vcpu", Single(decimal_of("a number of vCPUs such as 160"), {**_NUMBER, "examples": [160]}), "vCPUs."
)
_GIB: Final = Field(
    "gib", Single(decimal_of("a number of GiB such as 640"), {**_NUMBER, "examples": [640]}), "Memory in GiB."
)
_DISCOUNT: Final = Single(
    share_off, {"type": "string", "pattern": f"^({DISCOUNT_PATTERN})$", "examples": ["55%", "28.5%"]}
)
_UNTIL: Final = Field(
    "until", MOMENT, "Date (its first instant, UTC) or time from which it is no longer paid. Default unknown.", None
)


def _end(known: Mapping[str, Any]) -> datetime | None:
    return None if known["until"] is None else at(known["until"], DEFAULT_ZONE)


def _capacity(known: Mapping[str, Any]) -> Capacity:
    return Capacity(known["vcpu"], known["gib"])


def _commitments(known: Mapping[str, Any]) -> Commitments:
    return Commitments(
        families=tuple(replace(family, family=name) for name, family in sorted(known["families"].items())),
        flexible=known["flexible"],
        elsewhere=known["elsewhere"],
        shared_by=tuple(dict.fromkeys(known["sharedBy"])),
        read=known["read"],
    )


_COMMITMENT: Final = Block(
    "CommitmentSection",
    "Resource-based committed use of one machine family in the cluster's region: all contracts together.",
    (
        _VCPU,
        _GIB,
        _UNTIL,
        Field(
            "discount",
            _DISCOUNT,
            "Share off the list price at which it is paid, for fees and idle figures only. Default {default}: Google's "
            "published rate for one year; three years are 55%.",
            ONE_YEAR,
        ),
    ),
    lambda known: Commitment("", _capacity(known), _end(known), known["discount"]),
)
_FLEXIBLE: Final = Block(
    "FlexibleCommitmentSection",
    "Spend-based committed use: dollars an hour for machines on demand of any family. Google lists it with billing.",
    (
        Field(
            "perHour",
            Single(
                decimal_of("dollars such as 12.5", above=True),
                {"type": "number", "exclusiveMinimum": 0, "examples": [12.5]},
            ),
            "Dollars an hour that are paid for it.",
        ),
        Field(
            "discount",
            _DISCOUNT,
            "Share off the list price of what it covers. Default {default}: the published rate for one year; three "
            "years are 46%.",
            _FLEXIBLE_ONE_YEAR,
        ),
        _UNTIL,
    ),
    lambda known: FlexibleCommitment(known["perHour"], known["discount"], _end(known)),
)
_USED: Final = Block(
    "UsedElsewhereSection", "What others of the region use of one machine family.", (_VCPU, _GIB), _capacity
)
COMMITMENTS: Final = Block(
    "CommitmentsSection",
    "Committed use discounts of the cluster's region. They are paid whether or not nodes use them.",
    (
        Field("families", ByName(_COMMITMENT), "By machine family, such as n2.", {}),
        Field("flexible", _FLEXIBLE, "One commitment to an hourly spend. Default none.", None),
        Field(
            "elsewhere",
            ByName(_USED),
            "By machine family, how much other clusters and machines of the region use. {{}} means nothing. "
            "Default unknown: a range is shown.",
            None,
        ),
        Field(
            "sharedBy",
            ListOf(Single(cluster_name, {"type": "string", "pattern": f"^({CLUSTER_NAME_PATTERN})$"})),
            "Clusters that use the same commitments, this one included. Default none.",
            [],
        ),
        Field(
            "read",
            FLAG,
            "Whether the planner reads the families from Google once an hour, in place of those written here. "
            "Default {default}: it needs one more right (compute.commitments.list).",
            default=False,
        ),
    ),
    _commitments,
)
