"""What both functions and the CLI share: the pure core, the ports, the adapters and their wiring."""

from typing import Final

VERSION: Final = "0.1.0"  # Of Ebb: in the package, in the log, and in the state after each pass.
