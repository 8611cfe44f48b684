"""`ebb fleet`: many clusters and their installations at once, one row each; what cannot be read is a row, too."""
