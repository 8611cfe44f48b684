from io import StringIO

from rich.console import Console

from functions.cli.policy_check import show
from shared.core.policy import Policy, PoolPolicy


def test_pools_with_the_same_settings_stand_together() -> None:
    pages = StringIO()
    pools = {"a": PoolPolicy(enabled=True), "b": PoolPolicy(), "c": PoolPolicy(enabled=True)}
    show(Console(file=pages, width=120, color_system=None), "policy.yaml", Policy(pools=pools))
    titles = [line.strip() for line in pages.getvalue().splitlines() if line.startswith("pool")]
    assert titles == ["pools a, c", "pool b"]
