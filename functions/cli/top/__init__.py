"""`ebb top`: a cluster as it is now, redrawn while it changes."""
