"""Where a mistake may stand: every place of a module's code that an operator has something to say to.

Types, docstrings, messages, decorators and how a class makes its fields are no code in this sense. Must not run
anything.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.mutation.operators import OPERATORS, empty_answers

ROOT: Final = Path(__file__).resolve().parents[2]
CORE: Final = ROOT / "shared" / "core"
NOT_RULES: Final = frozenset(
    {"__init__", "names", "reasons", "outcomes", "plan", "prices", "metrics", "steps", "reason_groups"}
)
"""Modules of the core that hold words, figures and forms; what they say is compared with other lists."""
_LONGEST: Final = 80
_AROUND: Final = 25


@dataclass(frozen=True)
class Mutant:
    """One mistake. `parent`, `field` and `place` say where `other` is put into the module's tree."""

    path: Path
    function: str
    lines: range
    """Empty where the code runs when the module is imported."""
    line: int
    before: str
    after: str
    tree: ast.Module
    parent: ast.AST
    field: str
    place: int | None
    other: ast.AST

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the mutant is called while lines come and go above it."""
        return self.file, self.function, self.before, self.after

    @property
    def file(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} → {self.after}"

    def code(self) -> Any:
        """Put the mistake in, for good, and compile."""
        value: Any = ast.copy_location(self.other, self._own())
        if self.place is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.place] = value
        return compile(ast.fix_missing_locations(self.tree), self.path, "exec")

    def _own(self) -> ast.AST:
        own: Any = getattr(self.parent, self.field)
        found: ast.AST = own if self.place is None else own[self.place]
        return found


def rules() -> list[Path]:
    """Return the modules that decide: the core's rules and the placement."""
    return sorted(path for path in CORE.rglob("*.py") if _decides(path))


def _decides(path: Path) -> bool:
    """What a policy's text says is held by its own tables and a fuzzer; only when a schedule is active is a rule."""
    return path.stem not in NOT_RULES and (path.parent.name != "policy" or path.stem in {"cron", "schedule"})


def mutants(paths: Iterable[Path]) -> list[Mutant]:
    """Return every mutant of those modules, in the order of the text."""
    return [mutant for path in paths for mutant in of_text(path, path.read_text(encoding="utf-8"))]


def of_text(path: Path, text: str) -> Iterator[Mutant]:
    tree = ast.parse(text)
    statements = _statements(tree)
    for function, outer, parent, field, place, node in _walk(tree, "", None):
        others = [other for operator in OPERATORS for other in operator(node)]
        if isinstance(parent, ast.Return) and outer is not None:
            others += [each for each in empty_answers(outer) if ast.dump(each) != ast.dump(node)]
        line = getattr(node, "lineno", getattr(parent, "lineno", 0))
        lines = statements[id(node)] if outer is not None else range(0)
        for other in others:
            before, after = _told(_text(node), _text(other))
            yield Mutant(path, function, lines, line, before, after, tree, parent, field, place, other)


def _statements(tree: ast.Module) -> dict[int, range]:
    """Return by node the lines of the statement it stands in: one that goes over several lines runs as a whole."""
    found: dict[int, range] = {}
    for statement in (each for each in ast.walk(tree) if isinstance(each, ast.stmt)):
        inside: list[ast.stmt] = getattr(statement, "body", [])
        last = max(inside[0].lineno - 1, statement.lineno) if inside else statement.end_lineno or statement.lineno
        found.update((id(node), range(statement.lineno, last + 1)) for node in ast.walk(statement))
    return found


def _text(node: ast.AST) -> str:
    return f"if {ast.unparse(node.test)}" if isinstance(node, (ast.If, ast.IfExp)) else ast.unparse(node).strip()


def _told(before: str, after: str) -> tuple[str, str]:
    """Leave out what both have in common where they are long."""
    if max(len(before), len(after)) <= _LONGEST:
        return before, after
    same = max(_common(before, after) - _AROUND, 0)
    rest = max(_common(before[:same:-1], after[:same:-1]) - _AROUND, 0)
    return tuple(f"…{text[same : len(text) - rest]}…" for text in (before, after))  # type: ignore[return-value]  # two


def _common(one: str, other: str) -> int:
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)


_Place = tuple[str, ast.FunctionDef | None, ast.AST, str, int | None, ast.AST]


def _walk(node: ast.AST, function: str, outer: ast.FunctionDef | None) -> Iterator[_Place]:
    """Yield each node of code with where it stands, parents first."""
    for field, value in ast.iter_fields(node):
        for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not _is_no_code(node, field, child):
                name = f"{function}.{child.name}".strip(".") if isinstance(child, _SCOPES) else function
                inner = child if isinstance(child, ast.FunctionDef) else outer
                yield name, outer if field != "body" else inner, node, field, place, child
                yield from _walk(child, name, _within(node, field, child, outer))


_SCOPES = (ast.FunctionDef, ast.ClassDef)


def _within(parent: ast.AST, field: str, child: ast.AST, outer: ast.FunctionDef | None) -> ast.FunctionDef | None:
    """Defaults of a function's arguments run where it is made, not where it is called."""
    if isinstance(parent, ast.FunctionDef) and field == "args":
        return None
    return child if isinstance(child, ast.FunctionDef) else outer


def _is_no_code(parent: ast.AST, field: str, child: ast.AST) -> bool:
    if field in {"annotation", "returns", "decorator_list", "bases", "ctx", "targets", "target", "slice"}:
        return field != "slice" or (isinstance(parent, ast.Subscript) and _is_type(parent))
    if isinstance(child, (ast.JoinedStr, ast.Assert, ast.Delete, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(parent, ast.Expr) and isinstance(child, ast.Constant):
        return True
    if isinstance(parent, ast.ClassDef) and field == "keywords":
        return True
    if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "field":
        return True
    return isinstance(child, ast.BinOp) and isinstance(child.op, ast.BitOr) and _is_type(child)


def _is_type(node: ast.AST) -> bool:
    """Whether this is the right side of a type alias: `Callable[[Node], bool]`, `A | B`."""
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return bool(names) and all((name[:1].isupper() and not name.isupper()) or name in _BUILTIN for name in names)


_BUILTIN: Final = frozenset({"tuple", "list", "dict", "str", "int", "bool", "float", "type", "frozenset", "set"})
