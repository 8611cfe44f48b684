"""Fixtures that start the real things; tests name them and never start one themselves.

Each rests on a fixture of `tests.real.needs.NEEDS`, which starts nothing: whatever a test lacks is said before anything
is started for it. Under `pytest -n` each worker starts its own: run with `--dist loadfile`. The tests that share an
emulator also carry one `xdist_group`, but pytest-xdist 3.8 does not see groups under pytest 9.2 and says nothing
(https://github.com/pytest-dev/pytest-xdist/issues/1386). Tests on a control plane run in one process.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from tests.browser import chromium as browser
from tests.browser import debian, fonts
from tests.browser.devtools import Page, opened
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.assets import locate
from tests.real.control_plane.go_build import BuildError
from tests.real.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.needs import NEEDS, lacking, require, skip_or_fail
from tests.real.scheduler_filters import SchedulerFilters

T = TypeVar("T")
NewControlPlane = Callable[..., ControlPlane]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Ask for everything at once: a test that lacks one part must not start the others first."""
    require(_lacking_here(frozenset(NEEDS.keys() & getattr(item, "fixturenames", ()))))


_lacking_here = cache(lacking)


@pytest.fixture(scope="session")
def new_control_plane() -> NewControlPlane:
    """A cluster of a test's own: `with new_control_plane() as plane`. The binaries are built here the first time."""
    require(lacking(["new_control_plane"]))
    _build(locate)
    return ControlPlane


def _build(build: Callable[[], T]) -> T:
    """Return what was built or fetched, or skip with the first and the last that was said of it."""
    try:
        return build()
    except (BuildError, browser.ChromiumError, debian.DebianError) as failed:
        sentence, *_, why = [*str(failed).splitlines(), ""]
        skip_or_fail(f"{sentence} {why}".rstrip())


@pytest.fixture(scope="session")
def chromium() -> browser.Chromium:
    """A browser without a window. Debian's package is fetched here the first time where none is installed."""
    require(lacking(["chromium"]))
    return _build(browser.locate)


@pytest.fixture(scope="module")
def window(chromium: browser.Chromium) -> Iterator[Page]:
    with opened(chromium) as page:
        yield page


@pytest.fixture(scope="session")
def font_sets() -> Mapping[str, Path]:
    """The configurations of fontconfig that a page is shown under, by the names of `FONT_SETS`."""
    require(lacking(["font_sets"]))
    return _build(fonts.locate)


@pytest.fixture(scope="session")
def new_firestore_emulator() -> type[FirestoreEmulator]:
    require(lacking(["new_firestore_emulator"]))
    return FirestoreEmulator


@pytest.fixture(scope="session")
def new_pubsub_emulator() -> type[PubSubEmulator]:
    require(lacking(["new_pubsub_emulator"]))
    return PubSubEmulator


@pytest.fixture(scope="session")
def process_list() -> None:
    require(lacking(["process_list"]))


@pytest.fixture(scope="session")
def scheduler_filters() -> SchedulerFilters:
    """The kube-scheduler's filter plugins. The program is built here the first time."""
    require(lacking(["scheduler_filters"]))
    return _build(SchedulerFilters)


@pytest.fixture(scope="session")
def terraform() -> str:
    require(lacking(["terraform"]))
    return "terraform"


@pytest.fixture(scope="session")
def control_plane(new_control_plane: NewControlPlane) -> Iterator[ControlPlane]:
    """An empty cluster; a test that fills it works in a namespace and a node pool of its own."""
    with new_control_plane() as plane:
        yield plane


@pytest.fixture(scope="session")
def firestore_emulator(new_firestore_emulator: type[FirestoreEmulator]) -> Iterator[FirestoreEmulator]:
    with new_firestore_emulator() as emulator:
        yield emulator


@pytest.fixture(scope="session")
def pubsub_emulator(new_pubsub_emulator: type[PubSubEmulator]) -> Iterator[PubSubEmulator]:
    with new_pubsub_emulator() as emulator:
        yield emulator
