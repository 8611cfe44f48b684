"""The words of `reason` that are no reasons are those that the functions write, each told with what to do."""

import ast
from itertools import chain
from pathlib import Path

import pytest

from shared.core.healing.healing_input import RepairKind
from shared.core.reasons import DrainReason, PodBlock, Refusal, ReturnReason, Unremovable
from shared.errors import Retryable, Stale
from tests.monitoring.events import BY_NAME, PAGE

ROOT = Path(__file__).parents[2]
_, _, TABLE = PAGE.partition("## Words of `reason`")
LOG_WORDS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| `")]
"""Of each word the word itself, the events whose lines have it, its meaning, what to do."""
WRITERS = (ROOT / "functions/planner", ROOT / "functions/drainer", ROOT / "shared/store")
REASONS = {word.value for word in chain(Unremovable, PodBlock, Refusal, ReturnReason, DrainReason)}
COMPUTED = {Retryable.__name__.lower(), Stale.__name__.lower(), RepairKind.CONTINUE.value}


def nodes() -> list[ast.AST]:
    files = chain.from_iterable(folder.glob("*.py") for folder in WRITERS)
    return [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def written() -> set[str]:
    given = (node.value for node in nodes() if isinstance(node, ast.keyword) and node.arg == "reason")
    return {str(node.value) for node in given if isinstance(node, ast.Constant)}


def texts() -> set[str]:
    return {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_word_that_is_no_reason_is_shown() -> None:
    told = {word.strip("`") for word, *_ in LOG_WORDS}

    assert (written() | COMPUTED) - REASONS <= told
    assert told <= texts() | COMPUTED
    assert len(told) == len(LOG_WORDS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row[0].strip("`")) for row in LOG_WORDS])
def test_a_word_is_of_events_that_have_a_reason_and_shows_what_to_do(row: list[str]) -> None:
    _, events, meaning, remedy = row
    named = [BY_NAME[name.strip("`")] for name in events.split(", ")]

    assert all("reason" in (*event.labels, *event.other_labels) for event in named)
    assert meaning.endswith(".")
    assert remedy.endswith(".")
