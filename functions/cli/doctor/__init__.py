"""`ebb doctor`: is this installation set up as it must be? Asked once after an apply, and whenever it does not work."""
