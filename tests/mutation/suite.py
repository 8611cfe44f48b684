"""The tests as pytest collected them, to be run one at a time in the processes that are forked from here.

All that `make test` runs without real parts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import hypothesis
import pytest

_ROOT: Final = Path(__file__).resolve().parents[2]
_ELSEWHERE: Final = ("real", "terraform", "zip", "browser", "mutation")
_OPTIONS: Final = (
    "--assert=plain", "--capture=no", "-qq", "--no-summary", "-pno:cacheprovider", "-pno:cov",
    "-otimeout=0", "-ofaulthandler_timeout=0", "-mnot control_plane and not emulator",
    *(f"--ignore=tests/{name}" for name in _ELSEWHERE),
)  # fmt: skip


class Suite:
    """One collection of tests, and a plugin of the session that holds them."""

    def __init__(self, then: Callable[["Suite"], None]) -> None:
        self._then = then
        self._failed = False
        self.problem: Exception | None = None
        self.items: dict[str, pytest.Item] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """A law that fails has been seen to fail; nobody reads how simple its example can be."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutation", phases=phases, derandomize=True)
        hypothesis.settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not session.testsfailed:
            self.items = {item.nodeid: item for item in session.items if not _is_real(item)}
            try:
                self._then(self)
            except Exception as problem:  # noqa: BLE001 - pytest would keep it to itself
                self.problem = problem
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed

    def run(self, tests: Sequence[str], begin: Callable[[str], None]) -> Iterator[tuple[str, bool]]:
        """Run the tests, and yield of each whether it passes; what there is to do before each one is the caller's."""
        items = [self.items[test] for test in tests]
        for item, following in zip_longest(items, items[1:]):
            self._failed = False
            begin(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield item.nodeid, not self._failed


def collect(files: Iterable[str], then: Callable[[Suite], None]) -> None:
    """Collect the tests of those files (of all, if none is named), and go on with them in the same process.

    Raises:
        RuntimeError: a file cannot be collected.
    """
    suite = Suite(then)
    pytest.main([*_OPTIONS, *(list(files) or ["tests"])], plugins=[suite])
    if suite.problem or not suite.items:
        raise suite.problem or RuntimeError("the tests cannot be collected")


def _is_real(item: pytest.Item) -> bool:
    return "chromium" in getattr(item, "fixturenames", ())


def test_files(parts: Sequence[str]) -> list[str]:
    """Return the files of tests whose path has one of these parts; all, if none is named."""
    files = [path.relative_to(_ROOT) for path in (_ROOT / "tests").rglob("test_*.py")]
    found = sorted(str(file) for file in files if file.parts[1] not in _ELSEWHERE)
    return [file for file in found if not parts or any(part in file for part in parts)]


def file_of(test: str) -> str:
    return test.partition("::")[0]
