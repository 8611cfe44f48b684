"""A mistake is put into loaded code, however the function is known; what runs at import is loaded again."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.mutation.sites import ROOT, Mutant, mutants, of_text
from tests.mutation.swapping import ImportTime, Live, fresh
from tests.mutation.trying import Fate, ended, fate, forked

TEXT = """
from functools import cache, cached_property

def plain(): return 1
known_elsewhere = plain
class Kind:
    def method(self): return 1
    @property
    def asked(self): return 1
    @cached_property
    def kept(self): return 1
    @staticmethod
    def alone(): return 1
    @classmethod
    def of_class(cls): return 1
def maker():
    def inner(): return 1
    return inner
made = maker()
@cache
def remembered(): return 1
remembered()
def default(a=1): return a
LIMIT = 1
class Settings:
    limit = 1
"""


def loaded(path: Path) -> ModuleType:
    path.write_text(TEXT)
    spec = spec_from_file_location("shared.example", path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutant_of(path: Path, function: str) -> Mutant:
    return next(mutant for mutant in of_text(path, TEXT) if mutant.function == function and mutant.texts()[1] == "2")


def is_true_in_a_process(said: Callable[[], bool]) -> bool:
    return fate(ended(forked(lambda: 0 if said() else 1))[1]) is Fate.SURVIVED


@pytest.mark.parametrize(
    ("function", "ask"),
    [
        pytest.param("plain", "plain()", id="a function"),
        pytest.param("plain", "known_elsewhere()", id="a function that another module has imported"),
        pytest.param("Kind.method", "Kind().method()", id="a method"),
        pytest.param("Kind.asked", "Kind().asked", id="a property"),
        pytest.param("Kind.kept", "Kind().kept", id="a cached property"),
        pytest.param("Kind.alone", "Kind.alone()", id="a static method"),
        pytest.param("Kind.of_class", "Kind.of_class()", id="a class method"),
        pytest.param("maker.inner", "made()", id="a function that another has made"),
        pytest.param("remembered", "remembered()", id="an answer that is remembered"),
    ],
)
def test_a_function_gets_its_mistake_wherever_it_is_known(function: str, ask: str, tmp_path: Path) -> None:
    module = loaded(tmp_path / "example.py")
    live = Live()

    def answers() -> bool:
        live.swap(mutant_of(tmp_path / "example.py", function))
        return bool(eval(ask, vars(module)) == 2)  # noqa: S307 - the table's own words

    assert is_true_in_a_process(answers)
    assert eval(ask, vars(module)) == 1, "the mistake ends with its process"  # noqa: S307


@pytest.mark.parametrize("function", ["default", "", "Settings"])
def test_what_runs_at_import_cannot_be_swapped(function: str, tmp_path: Path) -> None:
    loaded(tmp_path / "example.py")
    with pytest.raises(ImportTime):
        Live().swap(mutant_of(tmp_path / "example.py", function))


def test_a_constant_changes_for_all_who_import_it() -> None:
    found = mutants([ROOT / "shared" / "core" / "records" / "orders.py"])
    (mutant,) = [each for each in found if each.texts()[1] == "CLAIM_WITHIN: Final = timedelta(minutes=10) * 60"]

    def changes() -> bool:
        fresh(mutant)
        user = import_module("shared.core.planning.plan")
        return bool(user.CLAIM_WITHIN.total_seconds() == 36_000)

    assert is_true_in_a_process(changes)
