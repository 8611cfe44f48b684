"""From what was read to the policy in force: every default applied, every pool complete.

Must not judge: what can be written wrong was found before.
"""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from msgspec.structs import replace

from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS, DrainSettings, Policy
from shared.core.policy.field import Field
from shared.core.policy.fields import POOL_FIELDS, PoolPolicy, enough_nodes

HASH_LENGTH: Final = 12


def effective(read: Mapping[str, Any], written: Mapping[str, Any]) -> Policy:
    """Return the policy in force; `read` holds what the document says, `written` is it as plain values."""
    defaults = _settings(POOL_FIELDS, read.get("defaults", {}))
    own = {name: _settings(POOL_FIELDS, pool) for name, pool in read.get("nodePools", {}).items()}
    drain = _settings(DRAIN_FIELDS, read)
    return Policy(
        hash=document_hash(written),
        drain=replace(DrainSettings(), **drain),
        watchdog_by_profile="watchdog" not in drain,
        pools={name: _pool({**defaults, **own[name]}) for name in sorted(own)},
        other_pools=_pool({**defaults, "enabled": False}),
        **_settings(CLUSTER_FIELDS, read),
    )


def _settings(fields: Mapping[str, Field], read: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the fields that were written, by attribute."""
    found = {}
    for attribute, field in fields.items():
        section = read
        for group in field.path.split(".")[:-1]:
            section = section.get(group, {})
        if field.name in section:
            found[attribute] = section[field.name]
    return found


def _pool(settings: Mapping[str, Any]) -> PoolPolicy:
    """Return a pool with these settings; how many under-utilised nodes it needs follows from its limit."""
    limit = settings.get("cpu_limit", PoolPolicy().cpu_limit)
    return PoolPolicy(**{"required_count": enough_nodes(limit), **settings})


def document_hash(written: Mapping[str, Any]) -> str:
    """Return a short SHA-256 of the document, whatever the order of its keys and the form of its decimals."""
    text = json.dumps(written, sort_keys=True, default=_plain, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def _plain(value: object) -> str:
    return str(value.normalize()) if isinstance(value, Decimal) else str(value)
