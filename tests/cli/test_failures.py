from pathlib import Path

import pytest

from functions.cli.errors import exit_code, near, spread_dumps
from shared.errors import BadDump, BadInput, BadPolicy, BadSettings, EbbError, Retryable, Terminal


@pytest.mark.parametrize(
    ("expected", "failure"),
    [
        pytest.param(2, BadInput("x"), id="a wrong option"),
        pytest.param(2, BadDump("x"), id="a file that is no dump"),
        pytest.param(2, BadSettings("x"), id="a wrong environment"),
        pytest.param(1, BadPolicy("x"), id="a policy with faults"),
        pytest.param(1, Retryable("the cluster"), id="an outage"),
        pytest.param(1, Terminal("the cluster"), id="no permission"),
    ],
)
def test_a_failure_ends_with(expected: int, failure: EbbError) -> None:
    assert exit_code(failure) == expected


@pytest.mark.parametrize(
    ("expected", "typed"),
    [
        pytest.param("plan", "plan", id="no dump"),
        pytest.param("plan --dump a", "plan --dump a", id="one file"),
        pytest.param(
            "plan --dump a --dump b --dump c -o json", "plan --dump a b c -o json", id="what a shell makes of *"
        ),
        pytest.param("plan --dump a --dump b", "plan --dump a --dump b", id="the option repeated"),
        pytest.param("explain --dump a --dump b n1", "explain --dump a b n1", id="what is no file stays itself"),
        pytest.param("explain --dump a n1 b", "explain --dump a n1 b", id="and ends the files"),
        pytest.param("plan --dump", "plan --dump", id="nothing after it"),
    ],
)
def test_several_files_may_follow_one_dump(
    expected: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    assert " ".join(spread_dumps(typed.split())) == expected


KNOWN = ("gke-prod-web-pool-1a2b-x7z9", "gke-prod-web-pool-1a2b-q4k2", "shop/cart-5d4f8b-0", "shop/Deployment/cart")


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param("did you mean gke-prod-web-pool-1a2b-x7z9?", "gke-prod-web-pol-1a2b-x7z9", id="a whole name"),
        pytest.param("did you mean gke-prod-web-pool-1a2b-x7z9?", "x7z8", id="an end"),
        pytest.param("did you mean gke-prod-web-pool-1a2b-q4k2?", "1a2b-q4k3", id="an end of two words"),
        pytest.param("did you mean shop/Deployment/cart?", "shop/deployment/cart", id="a workload in other letters"),
        pytest.param("did you mean shop/Deployment/cart?", "kart", id="a workload without its namespace"),
        pytest.param("", "nope", id="nothing alike"),
    ],
)
def test_of_what_is_known_it_asks_for(expected: str, word: str) -> None:
    assert near(word, KNOWN) == expected


def test_three_names_at_most_are_asked_for() -> None:
    assert near("web-9", [f"web-{number}" for number in range(5)]).count("web-") == 3
    assert near("web-9", ["web-1", "web-2"]) == "did you mean web-2 or web-1?"
