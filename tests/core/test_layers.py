"""In a pass no lower layer of the core calls a higher one, be it by a hook or by what it was handed."""

import sys
import tomllib
from functools import cache
from types import FrameType
from typing import Final

from tests.core.planning.passes import half_full, marked, plan
from tests.pages import ROOT

CONTRACTS: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS: Final[list[str]] = next(row["layers"] for row in CONTRACTS if row.get("containers") == ["shared.core"])


@cache
def layer_of(module: str) -> int | None:
    """Return the place of a module's layer, the highest first; None outside the core."""
    return LAYERS.index(module.split(".")[2]) if module.startswith("shared.core.") else None


def test_no_lower_layer_calls_a_higher_one() -> None:
    climbs: set[tuple[str, str]] = set()
    seen: set[int] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        mine = layer_of(frame.f_globals["__name__"]) if event == "call" else None
        if mine is None:
            return
        seen.add(mine)
        caller = frame.f_back
        while caller is not None and (theirs := layer_of(caller.f_globals["__name__"])) is None:
            caller = caller.f_back
        if caller is not None and theirs is not None and theirs > mine:
            climbs.add((caller.f_code.co_qualname, frame.f_code.co_qualname))

    before = sys.getprofile()
    names = [f"n{number}" for number in range(3)]
    sys.setprofile(note)
    try:
        made = plan(half_full(*names, cpu=1), marks=marked(*names))
    finally:
        sys.setprofile(before)

    assert climbs == set()
    assert {"planning", "placement", "rules", "cluster"} <= {LAYERS[layer] for layer in seen}
    assert made.at_rest is not None
