"""The decisions of Ebb: values in, values out; no I/O, no clock, no log, no randomness without a seed."""
