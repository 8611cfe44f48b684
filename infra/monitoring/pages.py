"""The runbook in docs/operations.md, written between its two marks; the rest of the page is written by hand."""

from typing import Final

from infra.monitoring.files import DOCS
from infra.monitoring.runbook import runbook

OPERATIONS: Final = DOCS / "operations.md"
START: Final = "<!-- runbook -->\n"
END: Final = "<!-- /runbook -->"


def written(text: str) -> str:
    """Return the page with the runbook in it."""
    before, _, rest = text.partition(START)
    return before + START + runbook() + END + rest.partition(END)[2]


def write() -> None:
    """Bring the page up to date."""
    OPERATIONS.write_text(written(OPERATIONS.read_text(encoding="utf-8")), encoding="utf-8")
