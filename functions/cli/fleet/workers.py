"""Many sources at once, each in a process: planning is CPU bound, and a cluster that ends its process ends no other.

Must not read a cluster: `cluster_reading` does, on the other side.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Final

from functions.cli.fleet.cluster_reading import SourceResult, be_quiet
from functions.cli.fleet.sources import ClusterSource

Read = Callable[[ClusterSource], SourceResult]
ENDED: Final = "Its process was ended while it was read: most often the machine's memory ran out; try --jobs 1."
UNEXPECTED: Final = "It could not be planned ({fault}): a fault of Ebb; ebb plan on it alone says where."
MOST_JOBS: Final = 8
"""More at once would rather fill the memory than be faster."""


def read_all(sources: Sequence[ClusterSource], read: Read, jobs: int) -> Iterator[SourceResult]:
    """Yield what became of each source as soon as it is known.

    Where a process is ended from outside nobody can tell which cluster was its undoing, so those that are not done are
    read once more, each in a process of its own.
    """
    left: list[ClusterSource] = []
    for result in _round(sources, read, min(jobs, max(len(sources), 1))):
        if result.faults == (ENDED,):
            left.append(result.source)
        else:
            yield result
    for source in left:
        yield from _round((source,), read, 1)


def new_processes(jobs: int) -> Executor:
    """Return so many processes, each started afresh: a forked one would inherit locks and consoles."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=be_quiet)


def _round(sources: Sequence[ClusterSource], read: Read, jobs: int) -> Iterator[SourceResult]:
    with new_processes(jobs) as processes:
        try:
            under_way = {processes.submit(partial(read, each)): each for each in sources}
            for future in as_completed(under_way):
                yield _result(under_way[future], future)
        except BaseException:
            processes.shutdown(wait=False, cancel_futures=True)
            raise


def _result(source: ClusterSource, future: Future[SourceResult]) -> SourceResult:
    fault = future.exception()
    if fault is None:
        return future.result()
    if isinstance(fault, BrokenProcessPool):
        return SourceResult(source, faults=(ENDED,))
    return SourceResult(source, faults=(UNEXPECTED.format(fault=f"{type(fault).__name__}: {fault}"),))


def parts_of_clusters(results: Iterable[SourceResult]) -> tuple[ClusterSource, ...]:
    """Return what may be read together where it could not be read alone: files that lie in one folder."""
    by_folder: dict[str, list[ClusterSource]] = {}
    for each in results:
        if each.faults and each.source.folder is not None:
            by_folder.setdefault(str(each.source.folder), []).append(each.source)
    return tuple(map(_together, (each for each in by_folder.values() if len(each) > 1)))


def _together(sources: Sequence[ClusterSource]) -> ClusterSource:
    dumps = tuple(path for each in sources for path in each.dumps)
    return ClusterSource(", ".join(each.name for each in sources), dumps)
