"""Laws of the whole core: every reason is given somewhere, and in a pass no lower layer calls a higher one."""

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from types import FrameType
from typing import Final

import pytest

from functions.cli.analysis.exclusions import Exclusion
from shared.core import reasons
from shared.core.reasons import DrainReason, Outcome, Reason
from tests.core.planning.passes import half_full, marked, plan
from tests.depth import cases
from tests.pages import ROOT

ROWS = ROOT / "shared" / "core" / "reasons"
"""What a row says of a reason is read where the reason has been given."""
KINDS = {name: kind for name, kind in vars(reasons).items() if isinstance(kind, type) and issubclass(kind, Reason)}


def given(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the members that code names otherwise than to compare with them: no set, no key, no loop, no comparison."""
    for node in _parts(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in KINDS:
            yield node.value.id, node.attr
        yield from given(node)


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.Compare | ast.Set | ast.comprehension):
        return ()
    return node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)


@cache
def given_somewhere() -> frozenset[tuple[str, str]]:
    files = (path for folder in ("shared", "functions") for path in (ROOT / folder).rglob("*.py"))
    read = (ast.parse(path.read_text()) for path in files if path.parent != ROWS)
    return frozenset(member for tree in read for member in given(tree))


@pytest.mark.parametrize(
    ("kind", "member"),
    [pytest.param(name, row.name, id=f"{name} {row.value}") for name, kind in KINDS.items() for row in kind],
)
def test_every_reason_is_given_somewhere(kind: str, member: str) -> None:
    assert (kind, member) in given_somewhere()


@pytest.mark.parametrize("kind", [*KINDS.values(), Exclusion])
def test_every_reason_has_a_sentence_and_a_remedy_but_where_nothing_is_wrong(kind: type[Reason]) -> None:
    assert [row for row in kind if not row.sentence.endswith(".")] == []
    assert [row for row in kind if kind not in {Outcome, DrainReason} and not row.remedy.endswith(".")] == []


@cases(
    "expected, text",
    ("returned", {("ReturnReason", "PAUSED")}, "def f(): return ReturnNode(ReturnReason.PAUSED)"),
    ("a table of rules", {("ReturnReason", "PAUSED")}, "RULES = ((ReturnReason.PAUSED, is_paused),)"),
    ("what a table gives", {("Outcome", "STALE")}, "ENDS = {ReturnReason.STALE: Outcome.STALE}"),
    ("a group", set(), "GROUP = frozenset({ReturnReason.PAUSED})"),
    ("a group of words", set(), "GROUP = frozenset(each.value for each in (ReturnReason.PAUSED,))"),
    ("a comparison", set(), "def f(why): return why is ReturnReason.PAUSED"),
)
def test_what_is_only_asked_for_is_not_given(expected: set[tuple[str, str]], text: str) -> None:
    assert set(given(ast.parse(text))) == expected


CONTRACTS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS: Final[list[str]] = next(row["layers"] for row in CONTRACTS if row.get("containers") == ["shared.core"])


@cache
def layer_of(module: str) -> int | None:
    """Return the place of a module's layer, the highest first; None outside the core."""
    return LAYERS.index(module.split(".")[2]) if module.startswith("shared.core.") else None


def test_no_lower_layer_calls_a_higher_one() -> None:
    climbs: set[tuple[str, str]] = set()
    seen: set[int] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        mine = layer_of(frame.f_globals["__name__"]) if event == "call" else None
        if mine is None:
            return
        seen.add(mine)
        caller = frame.f_back
        while caller is not None and (theirs := layer_of(caller.f_globals["__name__"])) is None:
            caller = caller.f_back
        if caller is not None and theirs is not None and theirs > mine:
            climbs.add((caller.f_code.co_qualname, frame.f_code.co_qualname))

    before = sys.getprofile()
    names = [f"n{number}" for number in range(3)]
    sys.setprofile(note)
    try:
        made = plan(half_full(*names, cpu=1), marks=marked(*names))
    finally:
        sys.setprofile(before)

    assert climbs == set()
    assert {"planning", "placement", "rules", "cluster"} <= {LAYERS[layer] for layer in seen}
    assert made.at_rest is not None
