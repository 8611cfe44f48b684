"""READ `make_plan` FIRST. One pass: a verdict for each node, and the orders of the pass."""
