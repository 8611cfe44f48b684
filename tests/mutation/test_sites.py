"""The mistakes that are made: what is code, what each operator does to it, and that none is made twice."""

from pathlib import Path

import pytest

from tests.mutation.__main__ import drawn
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.sites import ROOT, Mutant, mutants, of_text, patches, product


def made(text: str) -> list[Mutant]:
    return list(of_text(ROOT / "shared" / "core" / "example.py", text))


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(["a < b → a <= b"], "a < b", id="a bound"),
        pytest.param(["a is None → a is not None"], "a is None", id="a question"),
        pytest.param(["a and b → a or b", "a and b → b", "a and b → a"], "a and b", id="and"),
        pytest.param(["not a → a"], "not a", id="not"),
        pytest.param(["7 → 8", "7 → 6"], "x = 7", id="a number"),
        pytest.param(["True → False"], "x = True", id="a truth"),
        pytest.param(["a - b → a + b"], "a - b", id="a sign"),
        pytest.param(["min(a, b) → max(a, b)"], "x = min(a, b)", id="a function's sister"),
        pytest.param(["if a → if False", "if a → if True"], "b if a else c", id="a branch"),
        pytest.param(["(a, b) → (b,)", "(a, b) → (a,)", "(a, b) → (b, a)"], "RULES = (a, b)", id="a rule of a table"),
        pytest.param(["f(x=a) → f()"], "y = f(x=a)", id="an argument"),
        pytest.param(["a.copy() → a"], "x = a.copy()", id="a copy"),
        pytest.param(["dict(a) → a"], "x = dict(a)", id="a copy of a mapping"),
        pytest.param(["f() → pass"], "f()", id="a step"),
        pytest.param(["a.b = c → pass"], "a.b = c", id="a value that is kept"),
        pytest.param(
            [
                "sorted(a, key=b) → tuple(a)",
                "sorted(a, key=b) → sorted(a, key=b, reverse=True)",
                "sorted(a, key=b) → sorted(a)",
            ],
            "x = sorted(a, key=b)",
            id="an order",
        ),
        pytest.param(
            ["A: Final = timedelta(b) → A: Final = timedelta(b) * 60"],
            "A: Final = timedelta(b)",
            id="seconds for minutes",
        ),
        pytest.param(["for a in b if c → for a in b"], "[a for a in b if c]", id="a condition of many"),
        pytest.param(["a → ()"], "def f() -> tuple[int, ...]:\n    return a", id="an answer"),
        pytest.param(["a → None"], "def f() -> int | None:\n    return a", id="an answer that may be missing"),
        pytest.param([], "'''Words, 1.'''\ndef f(x: int | None) -> str | None: ...", id="types and words are no code"),
        pytest.param([], "x: int = field(default=1, repr=False)", id="how a field is made is no code"),
        pytest.param([], "__all__ = ['a', 'b']", id="what a module hands on is no code"),
        pytest.param([], "x = f(help='Two words.')", id="a sentence is no code"),
        pytest.param([], "Rule = Callable[[Node, str], bool | None]", id="a type's name is no code"),
    ],
)
def test_each_small_mistake_is_made_once(expected: list[str], text: str) -> None:
    assert [" → ".join(each.texts()) for each in made(text)] == expected


def test_a_mutant_is_the_module_with_its_mistake() -> None:
    (mutant,) = made("x = a < b")
    found: dict[str, object] = {"a": 1, "b": 1}
    exec(mutant.code(), found)  # noqa: S102 - that is what is tested

    assert found["x"] is True
    assert list(mutant.lines) == [], "it runs when the module is imported"


def test_what_runs_only_in_a_call_is_known_by_its_lines() -> None:
    (mutant,) = made("def f(a=()):\n    return a < 'b'")
    assert (mutant.function, list(mutant.lines)) == ("f", [2])


def test_a_mutant_that_people_write_stands_where_its_text_stood(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(
        '[{"id": "a", "file": "shared/readings.py", "old": "\\ndef ", "new": "\\ndef x"}]'
    )
    (mutant,) = patches(tmp_path / "mine.json")
    assert mutant.path.read_text().splitlines()[mutant.line].startswith("def ")


def test_a_share_is_drawn_by_the_seed_alone() -> None:
    every = mutants(product()[:9])
    assert drawn(every, 0.2, 7) == drawn(every, 0.2, 7) != drawn(every, 0.2, 8)
    assert len(drawn(every, 0.2, 7)) == round(len(every) * 0.2)


def test_each_mutant_that_is_called_equivalent_can_still_be_made() -> None:
    files = {ROOT / file for file, *_ in EQUIVALENT}
    assert EQUIVALENT.keys() - {mutant.key for mutant in mutants(sorted(files))} == set()
