"""The eviction API's words: which group each belongs to, and that a record may hold one of a newer version."""

import msgspec
import pytest

from shared.core.records.drain_record import LET_GO, NO_OBJECTION, REFUSED_FOR_GOOD, STAYS, EvictionAnswer, PodProgress
from tests.builders import NOW


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param({"let go", "no objection"}, EvictionAnswer.GRANTED, id="granted"),
        pytest.param({"let go", "no objection"}, EvictionAnswer.GONE, id="gone"),
        pytest.param({"stays"}, EvictionAnswer.BUDGET, id="a budget allows none now"),
        pytest.param({"no objection"}, EvictionAnswer.LATER, id="an overloaded server"),
        pytest.param({"no objection", "stays"}, EvictionAnswer.CONFLICT, id="a conflict"),
        pytest.param({"no objection", "stays"}, EvictionAnswer.TERMINATING, id="a namespace that ends"),
        pytest.param({"for good", "stays"}, EvictionAnswer.SEVERAL_PDBS, id="several budgets"),
        pytest.param({"for good", "stays"}, EvictionAnswer.FORBIDDEN, id="forbidden"),
    ],
)
def test_each_answer_belongs_to_its_groups(expected: set[str], answer: EvictionAnswer) -> None:
    groups = {"let go": LET_GO, "no objection": NO_OBJECTION, "for good": REFUSED_FOR_GOOD, "stays": STAYS}
    assert {name for name, group in groups.items() if answer in group} == expected


def test_a_record_may_hold_an_answer_of_a_newer_version() -> None:
    stored = {"uid": "u", "answer": "a new word", "at": NOW}
    row = msgspec.convert(stored, PodProgress)
    assert (row.answer, row.moved) == ("a new word", False)


@pytest.mark.parametrize(
    ("expected", "answer", "refused"),
    [
        pytest.param(True, "later", False, id="the answer was lost"),
        pytest.param(False, "later", True, id="a busy server refused"),
        pytest.param(True, "granted", False, id="granted"),
        pytest.param(False, "budget", False, id="a budget allows none now"),
        pytest.param(True, "a new word", False, id="of a newer version"),
    ],
)
def test_a_pod_may_leave_unless_its_refusal_is_certain(expected: bool, answer: str, refused: bool) -> None:
    assert PodProgress(uid="u", answer=answer, refused=refused, at=NOW).may_leave is expected
