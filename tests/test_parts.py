"""The run of all parts: what waits for what, what is shown of each, and what is written and holds of each test."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import parts
from tests.depth import cases, seed_of
from tests.parts import PARTS, Part, Run, closing, described, ended, ready
from tests.times import LEFT_OUT, Row, read

PYTHON = Path(sys.executable).name


def part(name: str, code: str = "", after: Sequence[str] = ()) -> Part:
    return Part(name, (f'{PYTHON} -c "{code}"',), frozenset(after))


def row(outcome: str = "passed", cpu: float = 1.0, test: str = "tests/a.py::test_a", of: str = "unit") -> Row:
    return Row(of, outcome, cpu, cpu, test)


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    return tmp_path


def run_of(*chosen: Part) -> dict[str, Run]:
    return {run.part.name: run for run in ended([*chosen, part("another")])}


@cases(
    "expected, not_ended",
    ("at first", {"check", "unit", "assets"}, {"check", "unit", "assets", "real", "faults"}),
    ("what waits goes next to what computes", {"real"}, {"check", "unit", "real", "faults"}),
    ("when all before has ended", {"real", "faults"}, {"real", "faults"}),
    ("programs are still built", set(), {"assets", "real", "faults"}),
)
def test_a_part_begins_when_those_before_it_have_ended(expected: set[str], not_ended: set[str]) -> None:
    left = [part for part in PARTS if part.name in not_ended]
    waiting = [part for part in left if part.name in expected or part.after]

    assert {part.name for part in ready(waiting, left)} == expected


def test_each_part_waits_for_parts_that_there_are() -> None:
    assert set().union(*(part.after for part in PARTS)) <= {part.name for part in PARTS}


def test_a_part_runs_after_those_it_waits_for(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write = f"open('{trace}', 'a').write('%s ')"

    run_of(part("second", write % "second", after=["first"]), part("first", write % "first"))

    assert trace.read_text() == "first second "


def test_a_part_that_fails_is_shown_with_all_that_it_printed() -> None:
    found = run_of(part("bad", "print('why'); raise SystemExit(3)"), part("good", "print('nothing')"))

    assert {name: run.code for name, run in found.items()} == {"bad": 3, "good": 0, "another": 0}
    assert "why" in "".join(described(found["bad"], []))
    assert "nothing" not in "".join(described(found["good"], []))


def test_a_part_reads_the_checkout_alike_in_every_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUTF8", "0")

    found = run_of(part("utf8", "import sys; raise SystemExit(sys.flags.utf8_mode)"))

    assert found["utf8"].code == 1


def test_the_last_line_counts_a_part_that_failed_without_a_test() -> None:
    found = run_of(part("check", "raise SystemExit(1)"))

    assert closing([*found.values()], [row(), row("skipped")], 1.0).splitlines()[-1] == "1 passed, 1 failed, 1 skipped"


def test_an_unknown_part_is_bad_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert parts.main(["units"]) == 2
    assert "units" in capsys.readouterr().err


def test_what_each_test_costs_is_read_as_it_was_written(pytester: pytest.Pytester) -> None:
    times = pytester.path / "times.tsv"
    pytester.makeconftest(
        f"""
        from pathlib import Path
        import tests.times
        tests.times.TIMES = Path({str(times)!r})
        pytest_plugins = ["tests.depth", "tests.times"]
        """
    )
    pytester.makeini("[pytest]\nmarkers = deep: takes long")
    pytester.makepyfile(
        """
        import pytest
        def test_good(): sum(range(2_000_000))
        def test_bad(): assert False
        def test_none(): raise pytest.skip.Exception("nothing here")
        @pytest.mark.deep
        def test_deep(): pass
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1, failed=1, skipped=1, deselected=1)

    good, *others = read(times)
    assert (good.part, good.outcome, good.test.endswith("::test_good")) == ("a part", "passed", True)
    assert good.cpu > 0.005
    assert [other.outcome for other in others] == ["failed", "skipped", LEFT_OUT]
    assert others[-1].test == "1"


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("EBB_PART", "a part")
    monkeypatch.setenv("EBB_DEEP", "")
    monkeypatch.setenv("PYTHONPATH", str(parts.ROOT))
    return pytester


@pytest.mark.parametrize(("expected", "text"), [(7, "7"), (20261123, "20261123"), (2688009735, "2026-11-23")])
def test_a_seed_is_a_number_or_stands_for_one(expected: int, text: str) -> None:
    assert seed_of(text) == expected


def test_a_part_that_runs_again_leaves_what_others_have_written(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = logs / "times.tsv"
    monkeypatch.setattr(parts, "TIMES", times)
    times.write_text("unit\tpassed\t1\t1\ta\nreal\tpassed\t1\t1\tb\n")
    for name in ("unit", "real"):
        (logs / f"{name}.txt").write_text(name)

    parts.drop({"unit"})

    assert [path.name for path in logs.glob("*.txt")] == ["real.txt"]
    assert [row.part for row in read(times)] == ["real"]


def test_no_example_fails_because_the_machine_is_busy() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_a_part_that_gives_way_runs_with_less_priority(tmp_path: Path) -> None:
    write = "import os; open(r'{}', 'w').write(str(os.nice(0)))"
    nice, usual = tmp_path / "nice", tmp_path / "usual"

    run_of(replace(part("first", write.format(nice)), gives_way=True), part("second", write.format(usual)))

    assert int(nice.read_text()) > int(usual.read_text())
