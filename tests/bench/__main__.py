"""`python -m tests.bench [--quick] [NAME…]`: print every ratio; fails only where a result breaks its bound."""

import sys

from tests.bench import cold_start, ebb_plan, idle_cost, orders_at_once, policies, potential, quality, reading
from tests.bench.days import table as days
from tests.bench.scale import report
from tests.bench.shapes import share as shapes

BENCHES = {
    "cold_start": cold_start.run,
    "reading": reading.run,
    "ebb_plan": ebb_plan.run,
    "policies": policies.run,
    "potential": potential.run,
    "quality": quality.run,
    "idle_cost": idle_cost.run,
    "orders_at_once": orders_at_once.run,
    "scale": report.run,
    "days": days.run,
    "shapes": shapes.run,
}


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    for name in words or BENCHES:
        print(name, flush=True)  # noqa: T201 - this is what the command is for
        BENCHES[name](quick="--quick" in sys.argv)


if __name__ == "__main__":
    main()
