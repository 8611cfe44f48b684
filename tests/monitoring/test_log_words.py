"""The words of `reason` that are no reasons are those that the functions write, each told with what to do."""

import ast
from itertools import chain
from pathlib import Path

import pytest

from infra.monitoring.events import BY_NAME
from infra.monitoring.reference import LOG_WORDS, LogWord
from shared.core.healing.healing_input import RepairKind
from shared.core.reasons import DrainReason, PodBlock, Refusal, ReturnReason, Unremovable
from shared.errors import Retryable, Stale

ROOT = Path(__file__).parents[2]
WRITERS = (ROOT / "functions/planner", ROOT / "functions/drainer", ROOT / "shared/store")
REASONS = {word.value for word in chain(Unremovable, PodBlock, Refusal, ReturnReason, DrainReason)}
COMPUTED = {Retryable.__name__.lower(), Stale.__name__.lower(), RepairKind.CONTINUE.value}


def nodes() -> list[ast.AST]:
    files = chain.from_iterable(folder.glob("*.py") for folder in WRITERS)
    return [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def written() -> set[str]:
    """Return the words that are written as `reason="…"`."""
    given = (node.value for node in nodes() if isinstance(node, ast.keyword) and node.arg == "reason")
    return {str(node.value) for node in given if isinstance(node, ast.Constant)}


def texts() -> set[str]:
    return {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_word_that_is_no_reason_is_shown() -> None:
    told = {row.word for row in LOG_WORDS}

    assert (written() | COMPUTED) - REASONS <= told
    assert told <= texts() | COMPUTED
    assert len(told) == len(LOG_WORDS)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.word) for row in LOG_WORDS])
def test_a_word_is_of_events_that_have_a_reason_and_shows_what_to_do(row: LogWord) -> None:
    assert all("reason" in (*BY_NAME[name].labels, *BY_NAME[name].other_labels) for name in row.events)
    assert row.do.endswith(".")
    assert "|" not in row.meaning + row.do
