"""Which machine types the pools should have. Read `advice` first (docs/shapes.md)."""
