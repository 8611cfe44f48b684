"""What a document says and the policy in force no longer shows: sentences for `policy check`.

Must not refuse anything, and must not say what `advice` can tell from the policy alone.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.policy.faults import path_text
from shared.core.policy.reading import read


def as_written(data: bytes) -> tuple[str, ...]:
    """Return what a person should know of how a valid document is written, one sentence each, with its path.

    Raises:
        BadPolicy: the bytes are no document.
    """
    written = read(data)
    holders: dict[tuple[str, ...], Any] = {("cluster",): written.get("cluster"), ("defaults",): written.get("defaults")}
    holders |= {("nodePools", name): pool for name, pool in (written.get("nodePools") or {}).items()}
    return tuple(sentence for path, holder in holders.items() for sentence in _no_reasons(path, holder))


def _no_reasons(path: tuple[str, ...], holder: Any) -> Iterator[str]:
    """Karpenter's API takes an empty list for all reasons; a person may have meant none."""
    for index, budget in enumerate(_budgets(holder)):
        if budget.get("reasons") == []:
            where = path_text((*path, "disruption", "budgets", index, "reasons"))
            yield f"{where}: the list is empty, which means every reason; leave it out, or name those that it binds."


def _budgets(holder: Any) -> list[Mapping[str, Any]]:
    block = holder.get("disruption") if isinstance(holder, Mapping) else None
    rows = block.get("budgets") if isinstance(block, Mapping) else None
    return rows if isinstance(rows, list) else []
