import pytest

from functions.cli.explain.parts import NodeNamer

WEB = tuple(f"gke-c-web-1f2e-{at:04}" for at in range(6))
DB = tuple(f"gke-c-db-8d9c-{at:04}" for at in range(2))
POOLS = {**dict.fromkeys(WEB, "web"), **dict.fromkeys(DB, "db"), "bare": ""}


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        pytest.param("all 6 of web", WEB, id="a whole pool"),
        pytest.param("…0000, …0001, …0002 and 2 more of web", WEB[:5], id="the first of many"),
        pytest.param("…0003 of web", WEB[3:4], id="one"),
        pytest.param("all 6 of web; …0001 of db", (*WEB, DB[1]), id="several pools, the most first"),
        pytest.param("bare of no pool", ("bare",), id="a node without a pool"),
    ],
)
def test_nodes_are_named(expected: str, names: tuple[str, ...]) -> None:
    assert NodeNamer(POOLS, cut=True).text(names) == expected


def test_a_pool_is_whole_without_the_node_that_the_pod_is_on() -> None:
    assert NodeNamer(POOLS, cut=True).text(WEB[1:], leaving=WEB[0]) == "all 5 of web"


def test_a_pipe_gets_whole_names() -> None:
    assert NodeNamer(POOLS, cut=False).text(WEB[:1]) == f"{WEB[0]} of web"


def test_of_many_pools_the_rest_is_counted() -> None:
    pools = {f"n{at}": f"p{at}" for at in range(6)}
    assert NodeNamer(pools, cut=True).text(pools).endswith("; 2 of 2 more pools")
