"""The entry points of Ebb: each turns a trigger into one call and the answer back; no rule lives here."""
