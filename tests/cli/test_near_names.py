import pytest

from functions.cli.errors import near

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
