"""The rooms of the little cluster autoscaler: its own API client, scale-down, scale-up."""
