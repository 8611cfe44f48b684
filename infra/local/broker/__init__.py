"""Topics and push subscriptions: at least once, with back-off and dead letters, in any order."""
