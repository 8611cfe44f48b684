"""`ebb dump`: the command that prints a cluster for a plan, run where asked, and its answer under other names."""
