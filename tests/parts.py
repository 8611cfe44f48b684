"""`python -m tests.parts [PART …]`: runs the parts of `make test`, side by side where none waits for another."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.depth import DEEP, SEED
from tests.times import LEFT_OUT, TIMES, Row, read

ROOT: Final = Path(__file__).parents[1]
LOGS: Final = TIMES.parent / "log"
SHOW_EVERY: Final = 60.0
"""Seconds after which a run that has shown nothing shows what it is doing."""
_PAUSE: Final = 0.2
_DEMO: Final = "tests/local/demo/test_demo.py"
_BIN: Final = shlex.quote(str(Path(sys.executable).parent))
_NOTES: Final = re.compile(r"^(?:\d[\d,]* histories, |\d+ tests?: |building |fetching |missing: ).*$", re.MULTILINE)
"""What stands under a part's line: histories drawn, what was skipped and why, what was built, what cannot be had."""


@dataclass(frozen=True)
class Part:
    name: str
    commands: tuple[str, ...]
    after: frozenset[str] = frozenset()
    """Parts that must have ended: what needs the assets waits for them."""
    gives_way: bool = False
    """Whether it only takes the CPU that the other parts leave idle."""


PARTS: Final = (
    Part(
        "check", ("ruff check --no-cache .", "ruff format --check .", "lint-imports", "mypy", "python -m tests.words")
    ),
    Part(
        "unit",
        (f"pytest -q -n2 --dist=loadfile -m 'not control_plane' --ignore=tests/faults --ignore={_DEMO} --acceptance",),
    ),
    Part("assets", ("python -m tests.assets",)),
    # The demo waits by a real clock as well, so it runs here, beside what computes.
    Part("real", ("pytest -q -m control_plane tests/real", f"pytest -q {_DEMO}"), after=frozenset({"assets"})),
    # They only compute, and on a clock of their own. In a deep run for so long that real parts would wait in vain.
    Part(
        "faults",
        ("pytest -q -n2 --dist=worksteal tests/faults",),
        frozenset({"check", "assets", *(("unit",) if DEEP else ())}),
        gives_way=True,
    ),
)
DAILY: Final = Part("quick", ("pytest -q -n 2 tests/core tests/functions tests/cli/analysis",))
"""Runs when it is named: the other parts have its tests."""


class Run:
    def __init__(self, part: Part, *, alone: bool) -> None:
        self.part, self.log, self.begun = part, LOGS / f"{part.name}.txt", time.monotonic()
        self.code, self.cpu, self.wall = -1, 0.0, 0.0
        out = None if alone else self.log.open("wb")
        way = "nice " if part.gives_way else ""
        script = "\n".join(f"{way}{_BIN}/{command}" for command in part.commands)
        # a session of its own: an interrupt ends the part with all that it started; a checkout is UTF-8 in any locale
        self.process = subprocess.Popen(
            ["/bin/sh", "-ec", script],
            cwd=ROOT,
            env=environment_of(part),
            stdout=out,
            stderr=subprocess.STDOUT if out else None,
            start_new_session=True,
        )
        if out:
            out.close()

    def has_ended(self) -> bool:
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu = used.ru_utime + used.ru_stime
            self.wall = time.monotonic() - self.begun
        return bool(pid)

    def end(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)


def environment_of(part: Part) -> dict[str, str]:
    """Return this process's environment, with the part's name, UTF-8, and compiled modules kept.

    Else each worker rewrites every test's assertions anew, and each process that a test starts compiles Ebb anew. Deep
    tests may take long: to show stacks while a thread goes on has ended a worker.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    patience = {"PYTEST_ADDOPTS": "-o faulthandler_timeout=1500"} if DEEP else {}
    return kept | {"EBB_PART": part.name, "PYTHONUTF8": "1"} | patience


def main(names: Sequence[str]) -> int:
    """Run the parts of these names, all without any; return 1 if one failed, 2 if there is no such part."""
    known = {part.name: part for part in (*PARTS, DAILY)}
    if unknown := set(names) - known.keys():
        sys.stderr.write(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(known)}\n")
        return 2
    chosen = [known[name] for name in names] or list(PARTS)
    chosen_names = {part.name for part in chosen}
    LOGS.mkdir(parents=True, exist_ok=True)
    drop(chosen_names)
    _say(f"EBB_SEED={SEED}: the same draws again" if not DEEP else f"deep run with new draws; again: EBB_SEED={SEED}")
    begun, runs = time.monotonic(), []
    for run in ended(chosen):
        runs.append(run)
        _say(*described(run, read()))
    rows = [row for row in read() if row.part in chosen_names]
    _say(closing(runs, rows, time.monotonic() - begun))
    return 1 if any(run.code for run in runs) else 0


def drop(parts: Collection[str]) -> None:
    """Remove what earlier runs of these parts have left; that of others stays."""
    for part in parts:
        (LOGS / f"{part}.txt").unlink(missing_ok=True)
    if TIMES.is_file():
        rows = TIMES.read_text(encoding="utf-8").splitlines(keepends=True)
        TIMES.write_text("".join(row for row in rows if row.partition("\t")[0] not in parts), encoding="utf-8")


def ended(parts: Sequence[Part]) -> Iterator[Run]:
    waiting, under_way, shown = list(parts), list[Run](), time.monotonic()
    try:
        while waiting or under_way:
            for part in ready(waiting, [*waiting, *(run.part for run in under_way)]):
                waiting.remove(part)
                under_way.append(Run(part, alone=len(parts) == 1))
            for run in [run for run in under_way if run.has_ended()]:
                under_way.remove(run)
                shown = time.monotonic()
                yield run
            if time.monotonic() - shown >= SHOW_EVERY:
                shown = time.monotonic()
                _say("  … " + ", ".join(f"{run.part.name} for {length(shown - run.begun)}" for run in under_way))
            time.sleep(_PAUSE)
    finally:
        for run in under_way:
            run.end()


def ready(waiting: Sequence[Part], not_ended: Collection[Part]) -> list[Part]:
    names = {part.name for part in not_ended}
    return [part for part in waiting if not part.after & names]


def described(run: Run, rows: Sequence[Row]) -> Iterator[str]:
    printed = run.log.read_text(encoding="utf-8", errors="replace") if run.log.is_file() else ""
    if run.code:
        yield printed.rstrip()
    words = ["ok" if run.code == 0 else f"FAILED ({run.code})", length(run.wall), f"CPU {length(run.cpu)}"]
    yield f"{run.part.name:8}" + "  ".join([*words, *outcomes([row for row in rows if row.part == run.part.name])])
    yield from (f"         {note}" for note in _NOTES.findall(printed))


def outcomes(rows: Sequence[Row]) -> Iterator[str]:
    """Give how many tests passed, failed and were skipped, and how many were left to `make deep`."""
    counted = Counter(row.outcome for row in rows)
    left_out = sum(int(row.test) for row in rows if row.outcome == LEFT_OUT)
    said = [f"{counted[word]} {word}" for word in ("passed", "failed", "skipped") if counted[word]]
    if said:
        yield ", ".join(said)
    if left_out:
        yield f"{left_out} left to make deep"


def closing(runs: Sequence[Run], rows: Sequence[Row], wall: float) -> str:
    """Return the last lines: what it took, and the sum of all parts in the form that others read."""
    counted = Counter(row.outcome for row in rows)
    bad = counted["failed"] + sum(run.code != 0 for run in runs if not any(row.part == run.part.name for row in rows))
    took = f"{length(wall)} wall, {length(sum(run.cpu for run in runs))} CPU"
    return f"{took}\n{counted['passed']} passed, {bad} failed, {counted['skipped']} skipped" if rows else took


def length(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201 - a command's output


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
