"""Which machine types the pools should have: offers, the search among them, its bound, and the proof of the result.

Read `advice` first (docs/shapes.md).
"""
