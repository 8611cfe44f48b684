"""A person's entry point: the command `ebb`, which asks the planner's core and shows what it says."""
