"""The edge: one outside thing per room. Adapters translate and hold no rule."""
