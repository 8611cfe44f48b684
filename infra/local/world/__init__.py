"""Objects, their versions and what happens to them: no thread, no socket, time is an argument."""
