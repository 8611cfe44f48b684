"""A real browser without a window, for tests of what people open in theirs."""
