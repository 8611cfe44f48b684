"""The commands that talk to an installation: drain, release, pause, resume, status."""
