"""`ebb plan` and `ebb explain`: a plan, as a table, as JSON, or one node of it explained."""
