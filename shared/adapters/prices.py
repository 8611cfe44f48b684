"""Reads the price table: the one that comes with Ebb, or a person's own of the same form."""

import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from shared.core.planning.prices import FALLBACK, Attached, Family, PriceBasis, Prices, Rates
from shared.errors import BadInput

OWN_TABLE: Final = Path(__file__).parent.parent / "data" / "prices.yaml"


class _FamilyRow(msgspec.Struct, frozen=True):
    vcpu: Fraction
    gib: Fraction
    spot: Fraction
    shapes: dict[str, Fraction]
    custom: Rates | None = None

    def family(self) -> Family:
        predefined = Rates(self.vcpu, self.gib)
        return Family(predefined, self.custom or predefined, self.spot, self.shapes)


class _GpuRow(msgspec.Struct, frozen=True):
    hour: Fraction
    spot: Fraction


class _DiskRow(msgspec.Struct, frozen=True):
    month: Fraction
    spot: Fraction


class _PriceTable(msgspec.Struct, frozen=True):
    families: dict[str, _FamilyRow]
    machines: dict[str, Fraction] = {}
    regions: dict[str, Fraction] = {}
    gpus: dict[str, _GpuRow] = {}
    local_ssd: _DiskRow | None = None
    source: str = ""
    currency: str = ""
    region: str = ""
    as_of: str = ""


@cache
def load(path: Path = OWN_TABLE) -> Prices:
    """Read a price table. Raises BadInput, with the place, for a file that cannot be read or is no such table."""
    try:
        table = msgspec.yaml.decode(path.read_bytes(), type=_PriceTable, strict=False, dec_hook=_exact)
        disk = table.local_ssd
        prices = Prices(
            families={name: row.family() for name, row in table.families.items()},
            machines=table.machines,
            regions=table.regions,
            gpus={name: Attached(row.hour, row.spot) for name, row in table.gpus.items()},
            local_ssd=Attached(disk.month, disk.spot) if disk else Attached(),
            basis=PriceBasis(table.source or path.name, table.as_of, table.region, table.currency),
        )
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); name a price table.") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadInput(
            f"{_fault_with_line(path, error)}; write it in the form of Ebb's own shared/data/prices.yaml."
        ) from error
    if FALLBACK not in prices.families:
        raise BadInput(f"{path}: families.{FALLBACK} is missing; unknown machines are estimated at its rates.")
    return prices


def _fault_with_line(path: Path, error: Exception) -> str:
    """Return what is wrong with the file; of what is no YAML with the line, as an editor takes it."""
    words = str(error).splitlines()
    lines = re.findall(r"line (\d+), column", str(error))
    if not lines:
        return f"{path}: {error}"
    problem = next(line for line in reversed(words) if not line.startswith(" "))
    return f"{path}:{lines[-1]}: this cannot be read as YAML ({problem})"


def _exact(kind: type, number: object) -> object:
    """Return the number as written: 0.031611 is that, not the nearest binary fraction."""
    return kind(str(number))
