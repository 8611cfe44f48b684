"""The drainer: one order in, one step of one drain; a reconciler, not a script."""
