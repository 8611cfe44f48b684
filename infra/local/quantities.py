"""Kubernetes quantities as exact numbers; the little GKE's own reading, not the planner's.

Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil

_FORM = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d+))?$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """The exact value of a quantity such as `100m`, `1.5Gi`, `2e3`; ValueError names what is not one."""
    match = _FORM.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: write a number with a suffix such as m, k, Mi or Gi")
    number, suffix, exponent = match.groups()
    value = Fraction(Decimal(number))
    if suffix in _BINARY:
        return value * 2 ** _BINARY[suffix]
    power = _DECIMAL[suffix] if suffix else int(exponent or 0)
    return value * 10**power if power >= 0 else value / 10**-power


def units(resource: str, text: object) -> int:
    """A whole number of units as the scheduler counts them: millicores of CPU, else units, rounded up."""
    value = quantity(str(text))
    return ceil(value * 1000) if resource == "cpu" else ceil(value)
