"""`ebb policy`: check, diff, windows, and imports of other tools' settings."""
