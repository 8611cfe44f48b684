"""`python -m functions.cli`: the same as the command `ebb`."""

from functions.cli.main import main

main()
