"""`ebb plan` and `ebb explain`: a plan, as a table, as JSON, or with one node explained."""
