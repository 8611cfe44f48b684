"""The edge: one module or package for each thing outside. Adapters translate and hold no rule."""
