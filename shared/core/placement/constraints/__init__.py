"""The scheduler's rules about what else lies on a node or in its domain, one module each."""
