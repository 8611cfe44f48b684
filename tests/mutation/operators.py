"""What can be wrong in one place: small mistakes that a programmer makes and a reader overlooks.

Each operator looks at one node of the syntax tree and yields what might stand there by mistake.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cache
from typing import Any, Final

Operator = Callable[[Any], Iterator[ast.AST]]

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SIGNS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.Mod: ast.Mult,
}  # fmt: skip
_SISTERS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_COPIES: Final = frozenset({"dict", "list", "set", "copy", "deepcopy"})
_FALSE: Final = ast.Constant(value=False)
_TRUE: Final = ast.Constant(value=True)


def comparison(node: ast.Compare) -> Iterator[ast.AST]:
    """Put the bound on the other side, or ask for the contrary."""
    for place, own in enumerate(node.ops):
        yield _with(node, ops=_instead(node.ops, place, _COMPARISONS[type(own)]()))


def boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    """Confuse `and` with `or`, and forget each part in turn."""
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for place in range(len(node.values)):
        left = _instead(node.values, place)
        yield left[0] if len(left) == 1 else _with(node, values=left)


def negation(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand


def constant(node: ast.Constant) -> Iterator[ast.AST]:
    """Miss a number by one to either side; turn a truth round."""
    if isinstance(node.value, bool):
        yield ast.Constant(value=not node.value)
    elif isinstance(node.value, (int, float)):
        yield from (ast.Constant(value=node.value + step) for step in (1, -1))


def sign(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    if type(node.op) in _SIGNS:
        yield _with(node, op=_SIGNS[type(node.op)]())


def sister(node: ast.Call) -> Iterator[ast.AST]:
    """Take the other of two sister functions."""
    if name_of(node.func) in _SISTERS and isinstance(node.func, ast.Name):
        yield _with(node, func=_with(node.func, id=_SISTERS[node.func.id]))


def order(node: ast.Call) -> Iterator[ast.AST]:
    """Lose an order, or turn it round. (The key is one of the arguments that `argument` forgets.)"""
    if name_of(node.func) == "sorted":
        yield _with(node, func=ast.Name(id="tuple", ctx=ast.Load()), keywords=[])
        if not any(keyword.arg == "reverse" for keyword in node.keywords):
            yield _with(node, keywords=[*node.keywords, ast.keyword(arg="reverse", value=_TRUE)])


def condition(node: ast.If | ast.IfExp) -> Iterator[ast.AST]:
    """Take a branch always, and never. (The parts of the condition are other operators' concern.)"""
    yield from (_with(node, test=truth) for truth in (_FALSE, _TRUE))


def filtered(node: ast.comprehension) -> Iterator[ast.AST]:
    """Drop each condition of a comprehension."""
    yield from (_with(node, ifs=_instead(node.ifs, place)) for place in range(len(node.ifs)))


def listed(node: ast.Tuple | ast.List | ast.Set) -> Iterator[ast.AST]:
    """Leave one out of a list of things: a rule of a table, a part of a sum. A sentence is no such thing."""
    for place, element in enumerate(node.elts if len(node.elts) > 1 else ()):
        if not _is_words(element):
            yield _with(node, elts=_instead(node.elts, place))


def neighbours(node: ast.Tuple | ast.List) -> Iterator[ast.AST]:
    """Swap two that stand side by side: rules of a table, parts of a key to sort by."""
    if all(isinstance(elt, (ast.Name, ast.Attribute)) for elt in node.elts):
        for place, (one, other) in enumerate(zip(node.elts, node.elts[1:], strict=False)):
            yield _with(node, elts=[*node.elts[:place], other, one, *node.elts[place + 2 :]])


def argument(node: ast.Call) -> Iterator[ast.AST]:
    """Forget an argument that has a default: each one given by its name."""
    for place, given in enumerate(node.keywords):
        if given.arg is not None and not _is_words(given.value):
            yield _with(node, keywords=_instead(node.keywords, place))


def copied(node: ast.Call) -> Iterator[ast.AST]:
    """Share what was to be a copy, or hand on what was to be changed in one."""
    name, given = name_of(node.func), len(node.args)
    if isinstance(node.func, ast.Attribute) and name in {"copy", "replace"} and not given:
        yield node.func.value
    elif given == 1 and ((name in _COPIES and not node.keywords) or (name == "replace" and len(node.keywords) > 1)):
        yield node.args[0]


def minutes(node: ast.AnnAssign) -> Iterator[ast.AST]:
    """Take minutes for seconds in a constant that is a time."""
    is_time = isinstance(node.value, ast.Call) and name_of(node.value.func) == "timedelta"
    if node.value and name_of(node.target).isupper() and (is_time or name_of(node.target).endswith("SECONDS")):
        yield _with(node, value=ast.BinOp(left=node.value, op=ast.Mult(), right=ast.Constant(value=60)))


def step(node: ast.Expr | ast.Assign) -> Iterator[ast.AST]:
    """Leave a step out: a call for what it does, or a value that is kept."""
    if isinstance(
        node.targets[0] if isinstance(node, ast.Assign) else node.value, (ast.Attribute, ast.Subscript, ast.Call)
    ):
        yield ast.Pass()


_OPERATORS: Final[dict[type[ast.AST], tuple[Operator, ...]]] = {
    ast.Compare: (comparison,),
    ast.BoolOp: (boolean,),
    ast.UnaryOp: (negation,),
    ast.Constant: (constant,),
    ast.BinOp: (sign,),
    ast.AugAssign: (sign,),
    ast.Call: (sister, order, argument, copied),
    ast.If: (condition,),
    ast.IfExp: (condition,),
    ast.comprehension: (filtered,),
    ast.Tuple: (listed, neighbours),
    ast.List: (listed, neighbours),
    ast.Set: (listed,),
    ast.AnnAssign: (minutes,),
    ast.Expr: (step,),
    ast.Assign: (step,),
}


def mistakes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what might stand there instead."""
    for operator in _OPERATORS.get(type(node), ()):
        yield from operator(node)


def empty_answers(function: ast.FunctionDef) -> list[ast.AST]:
    """Return what a function of that annotation answers when it has nothing to say; nothing where it must answer."""
    said = ast.unparse(function.returns) if function.returns else ""
    return [_value(text) for text in _EMPTY.get("| None" if said.endswith("| None") else said.split("[")[0], ())]


@cache
def _value(text: str) -> ast.AST:
    return ast.parse(text, mode="eval").body


_EMPTY: Final = {
    "| None": ("None",), "bool": ("True", "False"), "str": ("''",), "int": ("0",), "list": ("[]",),
    "tuple": ("()",), "Iterable": ("()",), "Sequence": ("()",), "Collection": ("()",),
    "dict": ("{}",), "Mapping": ("{}",), "set": ("set()",), "frozenset": ("frozenset()",),
}  # fmt: skip


def _with(node: ast.AST, **fields: object) -> Any:
    """Return the node with other fields; what is not changed is shared."""
    other = copy(node)
    for field, value in fields.items():
        setattr(other, field, value)
    return other


def _instead(nodes: Sequence[Any], place: int, *others: ast.AST) -> list[Any]:
    return [*nodes[:place], *others, *nodes[place + 1 :]]


def name_of(node: ast.AST | None) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _is_words(node: ast.AST) -> bool:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    return is_text or isinstance(node, ast.JoinedStr)
