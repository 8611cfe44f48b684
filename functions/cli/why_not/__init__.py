"""`ebb why-not`: which single change would free most money."""
