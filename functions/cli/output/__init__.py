"""How a command prints: terminal, progress, formats, layout."""
