"""What the table of families draws keeps the promise, and each Ebb that is broken on purpose is caught."""

import os
import subprocess
import sys
from math import gcd
from pathlib import Path

import pytest

from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.attach_limits import AttachLimits
from shared.core.placement.constraints.exclusion import OnePodClaims
from tests.depth import DEEP, SEED, cases
from tests.faults.catalog import MOMENTS, NODES, each_call, provider_actions
from tests.faults.directed import plain
from tests.faults.equal_plans import equal_plans_made_once
from tests.faults.families import DEEPER, FAMILIES, Family, Part, bases, history_named, parts, share
from tests.faults.history import History, breaches_of
from tests.faults.mixtures import mixture
from tests.faults.mutants import MUTANTS, NO_WATCHDOG, SHOWN, Mutant, caught
from tests.faults.partly import partly
from tests.faults.rerun import digest
from tests.faults.running import LEAST, Record, assert_kept, describe_failure, is_whole

HERE = Path(__file__).parent


def output(*command: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONHASHSEED": "2"}
    done = subprocess.run(
        [sys.executable, "-m", *command], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout


@cases(
    "history",
    ("nothing happens", bases()["tight"]),
    ("a mixture", mixture(7, people=False)),
    ("a mixture with people in a rich world", mixture(7, people=True, worlds=FAMILIES[1].worlds)),
    ("a pause", [*each_call("pause", bases()["one at a time"])][12]),
    ("next to a neighbour", [*each_call("kill", bases()["managed by Google"])][7]),
    ("an action of GKE", [*provider_actions(bases()["nobody deletes"])][3]),
    ("what fails in part", [*partly(bases()["partly marked"])][3]),
)
def test_a_name_finds_the_very_history(history: History) -> None:
    assert history_named(history.name) == history


def test_no_two_worlds_have_one_name() -> None:
    assert len(bases()) == sum(len(family.worlds.by_hand()) for family in FAMILIES)


def test_a_failure_shows_the_command_that_shows_it_again() -> None:
    with NO_WATCHDOG.made():
        told = describe_failure(plain("nobody deletes"))

    assert "python -m tests.faults.rerun 'nobody deletes'" in told


def test_a_history_is_the_same_in_every_process() -> None:
    name = "plain people:5"
    assert output("tests.faults.rerun", name) == (0, f"The promise was kept.\nrecord {digest(history_named(name))}\n")


@pytest.mark.parametrize("of", sorted({family.call_share for family in FAMILIES}))
def test_each_part_has_its_turn(of: int) -> None:
    assert {share("world", of, seed) for seed in range(of)} == set(range(of))


def test_no_part_is_drawn_twice_in_a_run() -> None:
    drawn = [str(part) for part in parts(4, DEEPER)]
    assert len(drawn) == len({*drawn})


def test_runs_with_other_seeds_draw_other_mixtures() -> None:
    drawn = [{part.of for part in parts(seed, DEEPER) if part.parts == 1} for seed in (0, 1)]
    assert drawn[0].isdisjoint(drawn[1])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.worlds.name)
def test_a_part_holds_both_faults_of_a_call_and_all_nodes_and_moments_of_an_action(family: Family) -> None:
    assert gcd(2, family.call_share) == gcd(len(NODES) * len(MOMENTS), family.action_share) == 1


@cases(
    "expected, path, chosen",
    ("this folder", True, HERE, ""),
    ("all tests", True, HERE.parent, ""),
    ("some tests", False, HERE, "tight"),
    ("a file", False, HERE / "test_families.py", ""),
    ("another folder", False, HERE.parent / "real", ""),
)
def test_a_run_of_the_folder_is_whole(expected: bool, path: Path, chosen: str) -> None:
    assert is_whole([path], chosen) is expected


@pytest.mark.deep
def test_a_whole_run_of_too_few_histories_fails() -> None:
    code, told = output("pytest", "-q", "-p", "no:cacheprovider", str(HERE), "--ignore-glob=*/test_[!e]*")
    assert code == 1
    assert f"at least {LEAST:,} were to be run" in told


@pytest.mark.parametrize("part", list(parts(SEED, DEEPER if DEEP else 1)), ids=str)
def test_nothing_that_happens_breaks_the_promise(part: Part, record_property: Record) -> None:
    assert_kept(part, record_property)


def test_each_rule_of_placement_has_a_mutant_that_lacks_it() -> None:
    assert {*CONSTRAINTS} == {*SHOWN, OnePodClaims, AttachLimits}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_caught_by_what_it_needs(mutant: Mutant) -> None:
    found = caught(mutant)

    assert found, f"{mutant.name} got through"
    assert breaches_of(found[0]) == [], "Ebb as it is breaks the promise there too: it says nothing of the mutant"


@pytest.mark.parametrize("name", ["kill:tight:9", "waved mixture:3", "replaced people:2"])
def test_a_history_is_the_same_whether_plans_are_kept_or_made(name: str) -> None:
    history = history_named(name)
    made = digest(history)
    with equal_plans_made_once():
        assert [digest(history) for _ in range(2)] == [made, made]
