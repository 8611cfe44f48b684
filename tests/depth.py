"""How a law is tried: with a table of cases, with drawn ones, and how deep a run goes.

Drawn cases are the same every time (`make test`), or more of them with new seeds (`make deep`). `EBB_DEEP=1` makes a
run deep. `EBB_SEED` (a number or any text) chooses what is drawn. Unless it is set it is 0 in a run that is not deep,
so that a green commit stays green, and the time in a deep one; each run prints it. A test that takes long and kills
no mutant that a faster one lets through bears the mark `deep`; naming it with `::` runs it all the same.
"""

import os
import time
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import HealthCheck, settings

DEEP = os.environ.get("EBB_DEEP", "") not in {"", "0"}
_QUICK_SHARE = 4
"""A law gets so many times fewer examples in a run that is not deep."""
_LEAST_EXAMPLES = 5
_EXAMPLES = 100
"""Of a law that asks for no number."""


def seed_of(text: str) -> int:
    return int(text) if text.isdecimal() else crc32(text.encode())


# Workers of pytest-xdist inherit the environment, so all of them draw with the seed of the first process.
SEED = seed_of(os.environ.setdefault("EBB_SEED", str(int(time.time())) if DEEP else "0"))
if DEEP:  # a law that is broken needs minutes to find the smallest case that shows it
    os.environ.setdefault("PYTEST_TIMEOUT", "1200")


def examples(deep: int) -> settings:
    """Return the settings of a law that tries so many examples in a deep run, and a quarter of them else."""
    return settings(max_examples=deep if DEEP else max(_LEAST_EXAMPLES, deep // _QUICK_SHARE))


def cases(names: str, *rows: Sequence[Any]) -> pytest.MarkDecorator:
    """Try a law with each row: its spoken id, then the values of `names`, the expected one first."""
    return pytest.mark.parametrize(names.split(", "), [pytest.param(*values, id=spoken) for spoken, *values in rows])


def _load_profile() -> None:
    """How long an example takes shows how busy the machine is, never whether the law holds: no deadline.

    No database either: what an earlier run found must not decide what this one tries. A counterexample is pinned with
    `@example`.
    """
    settings.register_profile(
        "ebb",
        examples(_EXAMPLES),
        deadline=None,
        database=None,
        derandomize=not DEEP,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("ebb")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    _load_profile()
    if DEEP and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header() -> str:
    return f"deep run, EBB_SEED={os.environ['EBB_SEED']}" if DEEP else f"EBB_SEED={os.environ['EBB_SEED']}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if DEEP or any("::" in given for given in config.args):
        return
    deep = [item for item in items if item.get_closest_marker("deep")]
    if deep:
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if not item.get_closest_marker("deep")]


def first_of(count: int, rows: Sequence[ParameterSet]) -> list[ParameterSet]:
    """Return the rows of a table, with those after so many first ones left to `make deep`."""
    deep = [pytest.param(*row.values, id=row.id, marks=[*row.marks, pytest.mark.deep]) for row in rows[count:]]
    return [*rows[:count], *deep]
