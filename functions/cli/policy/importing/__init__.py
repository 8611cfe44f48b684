"""From the configuration of another consolidator to a policy: a commented document, and what has no equivalent."""
