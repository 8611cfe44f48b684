"""LimitRanges and ResourceQuotas: the lists of both, what is decoded of them, and what that means.

A list that the account may not read is named and left out, for an installation is updated more often than its rights.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.containers import amounts
from shared.adapters.kubernetes.discovery import AdvisoryLists
from shared.core.cluster.namespace_limits import (
    LIMIT_RANGES,
    LIMITS,
    QUOTAS,
    LimitItem,
    LimitRange,
    NamespaceLimits,
    QuotaScope,
    ResourceQuota,
)
from shared.core.cluster.resources import CPU, MEMORY, PODS, amount, parse_quantity

KINDS: Final[Mapping[str, str]] = {"LimitRange": LIMIT_RANGES, "ResourceQuota": QUOTAS}  # By kind: its name in paths.
_REQUESTS: Final = "requests."
_COUNT: Final = "count/"
_OF_PODS: Final = frozenset({PODS, CPU, MEMORY, "ephemeral-storage"})
_OF_CLAIMS: Final = "storage"


class LimitRow(wire.Partial, frozen=True):
    type: str = ""
    max: wire.Quantities | None = None
    min: wire.Quantities | None = None
    default: wire.Quantities | None = None
    default_request: wire.Quantities | None = None
    max_limit_request_ratio: wire.Quantities | None = None


class LimitRangeSpec(wire.Partial, frozen=True):
    limits: list[LimitRow] | None = None


class LimitRangeObject(wire.Partial, frozen=True):
    metadata: wire.Meta
    spec: LimitRangeSpec = LimitRangeSpec()


class ScopeRow(wire.Partial, frozen=True):
    scope_name: str = ""
    operator: str = "Exists"
    values: list[str] | None = None


class ScopeSelector(wire.Partial, frozen=True):
    match_expressions: list[ScopeRow] | None = None


class QuotaSpec(wire.Partial, frozen=True):
    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class QuotaStatus(wire.Partial, frozen=True):
    hard: wire.Quantities | None = None
    used: wire.Quantities | None = None


class QuotaObject(wire.Partial, frozen=True):
    metadata: wire.Meta
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()


def read_limits(client: KubernetesClient) -> NamespaceLimits:
    """Read both lists. They only advise: one that cannot be read is named."""
    lists = AdvisoryLists(client)
    ranges, quotas = lists.read(LIMIT_RANGES, range_from_dump), lists.read(QUOTAS, quota_from_dump)
    return NamespaceLimits(ranges, quotas, tuple(lists.unread))


def range_from_dump(raw: bytes | msgspec.Raw) -> LimitRange:
    """Return a LimitRange without its rows for claims. Raises BadInput, msgspec.ValidationError."""
    given = msgspec.json.decode(raw, type=LimitRangeObject)
    rows = (row for row in given.spec.limits or () if row.type in {"Pod", "Container"})
    return LimitRange(given.metadata.namespace, given.metadata.name, tuple(map(_item, rows)))


def _item(given: LimitRow) -> LimitItem:
    return LimitItem(
        of_pod=given.type == "Pod",
        least=amounts(given.min),
        most=amounts(given.max),
        ratios={name: parse_quantity(text) for name, text in (given.max_limit_request_ratio or {}).items()},
        default_requests=amounts(given.default_request),
        default_limits=amounts(given.default),
    )


def quota_from_dump(raw: bytes | msgspec.Raw) -> ResourceQuota:
    """Return a ResourceQuota as its controller last counted it. Raises BadInput, msgspec.ValidationError."""
    given = msgspec.json.decode(raw, type=QuotaObject)
    rows = given.spec.scope_selector.match_expressions if given.spec.scope_selector else None
    scopes = [QuotaScope(name) for name in given.spec.scopes or ()]
    scopes += [QuotaScope(row.scope_name, row.operator, frozenset(row.values or ())) for row in rows or ()]
    meta, status = given.metadata, given.status
    return ResourceQuota(
        meta.namespace,
        meta.name,
        _counted_amounts(status.hard or {}),
        _counted_amounts(status.used or {}),
        tuple(scopes),
    )


def _counted_amounts(given: wire.Quantities) -> Mapping[str, int]:
    """Return the amounts of what pods use; of a resource that is named in two forms the smaller."""
    found: dict[str, int] = {}
    for name, text in given.items():
        prefix, resource = counted_name(name)
        if resource:
            key, value = prefix.removeprefix(_REQUESTS) + resource, amount(resource, text)
            found[key] = min(found.get(key, value), value)
    return found


def counted_name(name: str) -> tuple[str, str]:
    """Return prefix and resource of what a quota counts, `requests.` and `cpu`; both empty for what pods do not use."""
    prefix = next((known for known in (_COUNT, _REQUESTS, LIMITS) if name.startswith(known)), "")
    resource = name.removeprefix(prefix)
    used = {"": resource in _OF_PODS or resource.startswith("hugepages-"), _COUNT: resource == PODS}
    return (prefix, resource) if used.get(prefix, resource != _OF_CLAIMS) else ("", "")
