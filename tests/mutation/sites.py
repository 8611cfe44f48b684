"""Where a mistake may stand: every place of a module's code that an operator has something to say to.

Types, docstrings, messages, decorators and how a class makes its fields are no code in this sense.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any, Final

from tests.mutation.operators import empty_answers, mistakes, name_of

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("shared", "functions", "infra")
NO_PRODUCT: Final = "infra/local/"
"""A stand-in for GKE: what it does is held against the real thing."""
_LONGEST: Final = 80
_AROUND: Final = 25


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it stands, what stands there (`before`) and what would (`after`)."""

    path: Path
    function: str
    lines: range
    """Those of its statement; none where the code runs when the module is imported."""
    line: int
    texts: Callable[[], tuple[str, str]]
    put: Callable[[], ast.Module]
    """Puts the mistake into the module's tree, for good."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the mutant is called while lines come and go above it."""
        return self.file, self.function, *self.texts()

    @property
    def file(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def package(self) -> str:
        return "/".join(self.path.relative_to(ROOT).parent.parts[:3])

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.function or 'import'}: {' → '.join(self.texts())}"

    def code(self) -> CodeType:
        return compile(self.put(), self.path, "exec")


@cache
def product() -> list[Path]:
    """Return the modules of what is shipped to anybody: the functions, the commands, what writes the infrastructure."""
    paths = (path for top in PRODUCT for path in (ROOT / top).rglob("*.py"))
    return sorted(path for path in paths if NO_PRODUCT not in path.as_posix())


def mutants(paths: Iterable[Path]) -> list[Mutant]:
    """Return every mutant of those modules, in the order of the text."""
    return [mutant for path in paths for mutant in of_text(path, path.read_text(encoding="utf-8"))]


def of_text(path: Path, text: str) -> Iterator[Mutant]:
    tree = ast.parse(text)
    for where, parent, field, place, node in _walk(tree, _Where()):
        others = list(mistakes(node))
        if isinstance(parent, ast.Return) and where.outer:
            others += [answer for answer in empty_answers(where.outer) if ast.dump(answer) != ast.dump(node)]
        line = getattr(node, "lineno", getattr(parent, "lineno", 0))
        for other in others:
            put = partial(_put, tree, parent, field, place, other)
            yield Mutant(path, where.function, where.lines, line, partial(_told, node, other), put)


def _put(tree: ast.Module, parent: ast.AST, field: str, place: int | None, other: ast.AST) -> ast.Module:
    own: Any = getattr(parent, field)
    if place is None:
        setattr(parent, field, ast.copy_location(other, own))
    else:
        own[place] = ast.copy_location(other, own[place])
    return ast.fix_missing_locations(tree)


def _told(node: ast.AST, other: ast.AST) -> tuple[str, str]:
    """Leave out what both have in common where they are long."""
    before, after = _text(node), _text(other)
    if max(len(before), len(after)) <= _LONGEST:
        return before, after
    same = max(_common(before, after) - _AROUND, 0)
    rest = max(_common(before[:same:-1], after[:same:-1]) - _AROUND, 0)
    return f"…{before[same : len(before) - rest]}…", f"…{after[same : len(after) - rest]}…"


def _text(node: ast.AST) -> str:
    return f"if {ast.unparse(node.test)}" if isinstance(node, (ast.If, ast.IfExp)) else ast.unparse(node).strip()


def _common(one: str, other: str) -> int:
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)


@dataclass(frozen=True)
class _Where:
    function: str = ""
    outer: ast.FunctionDef | None = None
    lines: range = range(0)

    def inside(self, parent: ast.AST, field: str, child: ast.AST) -> "_Where":
        """Return where the child stands. Defaults of arguments run where the function is made, not where it runs."""
        here = self
        if isinstance(parent, ast.FunctionDef) and field == "body":
            here = replace(here, outer=parent)
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            here = replace(here, function=f"{self.function}.{child.name}".strip("."))
        if here.outer and isinstance(child, ast.stmt):
            here = replace(here, lines=_lines(child))
        return here


def _lines(statement: ast.stmt) -> range:
    """Return its lines up to what stands inside: a statement that goes over several lines runs as a whole."""
    inside: list[ast.stmt] = getattr(statement, "body", [])
    last = max(inside[0].lineno - 1, statement.lineno) if inside else statement.end_lineno or statement.lineno
    return range(statement.lineno, last + 1)


def _walk(node: ast.AST, where: _Where) -> Iterator[tuple[_Where, ast.AST, str, int | None, ast.AST]]:
    """Yield each node of code with where it stands, parents first."""
    for field, value in ast.iter_fields(node):
        for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST) and not _is_no_code(node, field, child):
                here = where.inside(node, field, child)
                yield here, node, field, place, child
                yield from _walk(child, here)


def _is_no_code(parent: ast.AST, field: str, child: ast.AST) -> bool:
    if field == "slice":
        return isinstance(parent, ast.Subscript) and _is_type(parent.value)
    if isinstance(child, ast.BinOp) and isinstance(child.op, ast.BitOr) and _is_type(child):
        return True
    is_docstring = isinstance(parent, ast.Expr) and isinstance(child, ast.Constant)
    is_class_option = isinstance(parent, ast.ClassDef) and field == "keywords"
    is_apart = is_docstring or is_class_option or _head(child) in _NO_NAMES
    return is_apart or field in _NO_FIELDS or isinstance(child, _NO_NODES)


def _head(node: Any) -> str:
    """Return the name that the statement or call is about."""
    if isinstance(node, ast.If):
        return name_of(getattr(node.test, "left", None))
    return name_of(node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "func", None))


_NO_FIELDS: Final = frozenset({"annotation", "returns", "decorator_list", "bases", "ctx", "targets", "target"})
_NO_NODES: Final = (ast.JoinedStr, ast.Assert, ast.Delete, ast.Import, ast.ImportFrom)
_NO_NAMES: Final = frozenset({"__all__", "__name__", "field"})


def _is_type(node: ast.AST) -> bool:
    """Whether this is the right side of a type alias, `A | B`, or what its brackets follow, `Callable`."""
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return bool(names) and all((name[:1].isupper() and not name.isupper()) or name in _BUILTIN for name in names)


_BUILTIN: Final = frozenset({"tuple", "list", "dict", "str", "int", "bool", "float", "type", "frozenset", "set"})
