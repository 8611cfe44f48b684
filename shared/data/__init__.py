"""Data that ships with Ebb: machine prices with their source and date."""
