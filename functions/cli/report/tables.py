"""Long lists as columns and rows: 20,000 objects with the same ten keys each would make a file three times as long."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return a list as JSON: the names of its columns once, then a row each."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}
