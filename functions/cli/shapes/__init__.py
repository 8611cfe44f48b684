"""`ebb shapes`: which machine types the pools should have."""
