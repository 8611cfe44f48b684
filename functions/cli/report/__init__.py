"""`ebb report`: one page to send on, drawn from the same view as the table, and the same as JSON."""
