"""One run of the tests with coverage, which writes down for each test the lines it runs and the time it takes.

The tests run in processes like those of the mutants, forked after the collection.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from coverage import Coverage

from tests.mutation.reach import Measured, version_of
from tests.mutation.sites import PRODUCT, ROOT
from tests.mutation.suite import Suite, file_of
from tests.mutation.swapping import Live
from tests.mutation.trying import clear, ended, forked
from tests.times import cpu_seconds


def measure(suite: Suite, live: Live, files: Sequence[str], folder: Path, jobs: int) -> None:
    """Run the tests of those files, and add what is seen to the folder.

    Raises:
        RuntimeError: a process has broken down.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [folder / f"{len(list(folder.iterdir()))}-{part}" for part in range(jobs)]
    workers = [forked(partial(_work, suite, live, files[part::jobs], name)) for part, name in enumerate(names)]
    try:
        statuses = [ended(worker)[1] for worker in workers]
    except BaseException:
        for worker in workers:
            clear(worker)
        raise
    if any(statuses):
        raise RuntimeError("a process that measures the tests has broken down")


def _work(suite: Suite, live: Live, files: Sequence[str], name: Path) -> int:
    sources = [str(ROOT / top) for top in PRODUCT]
    coverage = Coverage(data_file=f"{name}.coverage", config_file=False, branch=False, source=sources)
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.start()
    with Path(f"{name}.jsonl").open("wb") as out:
        out.writelines(msgspec.json.encode(_measured(suite, live, file, coverage)) + b"\n" for file in files)
    coverage.stop()
    coverage.save()
    return 0


def _measured(suite: Suite, live: Live, file: str, coverage: Coverage) -> Measured:
    def begin(test: str) -> None:
        live.forget()
        coverage.switch_context(test)

    row = Measured(file, version_of(file), {}, [])
    begun = cpu_seconds()
    for test, passes in suite.run([test for test in suite.items if file_of(test) == file], begin):
        spent, begun = cpu_seconds() - begun, cpu_seconds()
        if passes:
            row.seconds[test] = spent
        else:
            row.failed.append(test)
    return row
