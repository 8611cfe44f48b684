"""Kubernetes quantities as exact numbers; the simulated GKE's own reading, not the planner's.

Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil

_FORM = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d+))?$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_FACTORS = {suffix: Fraction(f"1e{power}") for suffix, power in _DECIMAL.items()} | {
    suffix: Fraction(1024**power) for suffix, power in _BINARY.items()
}


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """The exact value of a quantity such as `100m`, `1.5Gi`, `2e3`; ValueError names what is not one."""
    match = _FORM.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: write a number with a suffix such as m, k, Mi or Gi")
    number, suffix, exponent = match.groups()
    return Fraction(number) * (_FACTORS[suffix] if suffix else Fraction(f"1e{exponent or 0}"))


@lru_cache(maxsize=4096)
def units(resource: str, text: object) -> int:
    """A whole number of units as the scheduler counts them: millicores of CPU, else units, rounded up."""
    value = quantity(str(text))
    return ceil(value * 1000) if resource == "cpu" else ceil(value)
