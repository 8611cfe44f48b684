from functions.cli.errors import exit_code, near
from shared.errors import BadDump, BadInput, BadPolicy, BadSettings, EbbError, Retryable, Terminal
from tests.depth import cases


@cases(
    "expected, failure",
    ("a wrong option", 2, BadInput("x")),
    ("a file that is no dump", 2, BadDump("x")),
    ("a wrong environment", 2, BadSettings("x")),
    ("a policy with faults", 1, BadPolicy("x")),
    ("an outage", 1, Retryable("the cluster")),
    ("no permission", 1, Terminal("the cluster")),
)
def test_a_failure_ends_with(expected: int, failure: EbbError) -> None:
    assert exit_code(failure) == expected


KNOWN = ("gke-prod-web-pool-1a2b-x7z9", "gke-prod-web-pool-1a2b-q4k2", "shop/cart-5d4f8b-0", "shop/Deployment/cart")


@cases(
    "expected, word",
    ("a whole name", "did you mean gke-prod-web-pool-1a2b-x7z9?", "gke-prod-web-pol-1a2b-x7z9"),
    ("an end", "did you mean gke-prod-web-pool-1a2b-x7z9?", "x7z8"),
    ("an end of two words", "did you mean gke-prod-web-pool-1a2b-q4k2?", "1a2b-q4k3"),
    ("a workload in other letters", "did you mean shop/Deployment/cart?", "shop/deployment/cart"),
    ("a workload without its namespace", "did you mean shop/Deployment/cart?", "kart"),
    ("nothing alike", "", "nope"),
)
def test_of_what_is_known_it_asks_for(expected: str, word: str) -> None:
    assert near(word, KNOWN) == expected


def test_three_names_at_most_are_asked_for() -> None:
    assert near("web-9", [f"web-{number}" for number in range(5)]).count("web-") == 3
    assert near("web-9", ["web-1", "web-2"]) == "did you mean web-2 or web-1?"
