"""What can be wrong in one place: small mistakes that a programmer makes and a reader overlooks.

Each operator looks at one node of the syntax tree and yields what might stand there by mistake. Must not know where
the node stands (`sites`), nor what becomes of the mistake (`trying`).
"""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Final

Operator = Callable[[ast.AST], Iterator[ast.AST]]

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SIGNS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.Mod: ast.Mult,
}  # fmt: skip
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "tuple"}
_FALSE: Final = ast.Constant(value=False)
_TRUE: Final = ast.Constant(value=True)


def comparison(node: ast.AST) -> Iterator[ast.AST]:
    """Put the bound on the other side, or ask for the contrary."""
    if isinstance(node, ast.Compare):
        for place, own in enumerate(node.ops):
            other = deepcopy(node)
            other.ops[place] = _COMPARISONS[type(own)]()
            yield other


def boolean(node: ast.AST) -> Iterator[ast.AST]:
    """Confuse `and` with `or`, and forget each part in turn."""
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(op=other, values=node.values)
        for place in range(len(node.values)):
            left = node.values[:place] + node.values[place + 1 :]
            yield left[0] if len(left) == 1 else ast.BoolOp(op=node.op, values=left)


def negation(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand


def constant(node: ast.AST) -> Iterator[ast.AST]:
    """Miss a number by one to either side; turn a truth round."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(value=not node.value)
    elif isinstance(node.value, (int, float)):
        yield from (ast.Constant(value=node.value + step) for step in (1, -1))


def arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        yield ast.BinOp(left=node.left, op=_SIGNS[type(node.op)](), right=node.right)


def increment(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS:
        yield ast.AugAssign(target=node.target, op=_SIGNS[type(node.op)](), value=node.value)


def function_name(node: ast.AST) -> Iterator[ast.AST]:
    """Take the other of two sister functions; `sorted` loses its order."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        other = deepcopy(node)
        other.func = ast.Name(id=_NAMES[node.func.id], ctx=ast.Load())
        if node.func.id == "sorted":
            other.keywords = []
        yield other


def condition(node: ast.AST) -> Iterator[ast.AST]:
    """Take a branch always, and never. (The parts of the condition are other operators' concern.)"""
    if isinstance(node, (ast.If, ast.IfExp)):
        for truth in (_FALSE, _TRUE):
            other = deepcopy(node)
            other.test = truth
            yield other


def filtered(node: ast.AST) -> Iterator[ast.AST]:
    """Drop each condition of a comprehension."""
    if isinstance(node, ast.comprehension):
        for place in range(len(node.ifs)):
            other = deepcopy(node)
            del other.ifs[place]
            yield other


def listed(node: ast.AST) -> Iterator[ast.AST]:
    """Leave one out of a list of things: a rule of a table, a part of a sum."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and isinstance(getattr(node, "ctx", None), ast.Load | None):
        for place in range(len(node.elts) if len(node.elts) > 1 else 0):
            other = deepcopy(node)
            del other.elts[place]
            yield other


def argument(node: ast.AST) -> Iterator[ast.AST]:
    """Forget an argument that has a default: each one given by its name."""
    if isinstance(node, ast.Call):
        for place, given in enumerate(node.keywords):
            if given.arg is not None:
                other = deepcopy(node)
                del other.keywords[place]
                yield other


OPERATORS: Final[tuple[Operator, ...]] = (
    comparison, boolean, negation, constant, arithmetic, increment, function_name, condition, filtered, listed,
    argument,
)  # fmt: skip


def empty_answers(function: ast.FunctionDef) -> tuple[ast.expr, ...]:
    """Return what a function of that annotation answers when it has nothing to say; nothing where it must answer."""
    said = ast.unparse(function.returns) if function.returns else "None"
    if said.endswith("| None"):
        return (ast.Constant(value=None),)
    word = said.split("[")[0]
    return tuple(ast.parse(text, mode="eval").body for text in _EMPTY.get(word, ()))


_EMPTY: Final = {
    "bool": ("True", "False"),
    "tuple": ("()",), "Iterable": ("()",), "Sequence": ("()",), "Collection": ("()",), "list": ("[]",),
    "dict": ("{}",), "Mapping": ("{}",), "set": ("set()",), "frozenset": ("frozenset()",), "str": ("''",),
    "int": ("0",),
}  # fmt: skip
