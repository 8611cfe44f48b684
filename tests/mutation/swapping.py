"""A mistake put into code that is loaded already: the functions it touches get their new code, wherever they are known.

A function's code is swapped in the function itself, so that methods, properties, cached properties and what other
modules imported by name all change at once. Code that has run at import cannot be swapped: such a mutant is loaded
afresh (`fresh`).
"""

import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any, Final

from tests.mutation.sites import Mutant

_Key = tuple[str, int, str]
_CACHE: Final = type(cache(lambda: None))
_OURS: Final = frozenset({"shared", "functions", "infra", "main", "tests"})


class ImportTime(Exception):
    """The mistake stands in code that runs when its module is imported."""


class Live:
    """Every function that is loaded, by where it was written, and what ours remember of former calls."""

    def __init__(self) -> None:
        self._functions: dict[_Key, list[FunctionType]] = defaultdict(list)
        self._caches: list[Any] = []
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                self._functions[_key(thing.__code__)].append(thing)
            elif type(thing) is _CACHE and thing.__module__.partition(".")[0] in _OURS:
                self._caches.append(thing)

    def forget(self) -> None:
        """Let each function of ours that remembers its answers find them again."""
        for memo in self._caches:
            memo.cache_clear()

    def swap(self, mutant: Mutant | None) -> None:
        """Put the mistake into the functions of this process; None is no mistake.

        Raises:
            ImportTime: it stands in no function, or none that is loaded.
        """
        if mutant is None:
            return
        own = compile(mutant.path.read_text(encoding="utf-8"), mutant.path, "exec")
        changes = [(function, code) for old, code in self._pairs(own, mutant.code()) for function in self._of(old)]
        if not changes or any(
            len(function.__code__.co_freevars) != len(code.co_freevars) for function, code in changes
        ):
            raise ImportTime
        for function, code in changes:
            function.__code__ = code
        self.forget()

    def _of(self, code: CodeType) -> list[FunctionType]:
        return self._functions.get(_key(code), [])

    def _pairs(self, old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
        """Yield the old and the new code of each loaded function that differs; what stands around them must not."""
        if old == new:
            return
        if self._of(old):
            yield old, new
        elif _frame(old) != _frame(new):
            raise ImportTime
        inner = (pair for pair in zip(old.co_consts, new.co_consts, strict=False) if isinstance(pair[0], CodeType))
        for pair in inner:
            if isinstance(pair[1], CodeType):
                yield from self._pairs(*pair)


def _key(code: CodeType) -> _Key:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _frame(code: CodeType) -> tuple[object, ...]:
    """Return what code does, apart from the functions and classes that it makes."""
    consts = tuple((type(const), None if isinstance(const, CodeType) else const) for const in code.co_consts)
    return code.co_code, code.co_names, consts


def fresh(mutant: Mutant | None) -> None:
    """Forget all code of ours in this process; what imports the mutant's module again gets it with the mistake."""
    for name in [module for module in sys.modules if module.partition(".")[0] in _OURS or module.startswith("test_")]:
        del sys.modules[name]
    original = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return mutant.code() if mutant and name == mutant.module else original(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]  # until the process ends
