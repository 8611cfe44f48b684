"""What both functions and the CLI share: the pure core, the ports, the adapters and their wiring."""
