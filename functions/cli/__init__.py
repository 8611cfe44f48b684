"""A person's entry point: the command `ebb`, which runs the planner's core and shows its answer."""
