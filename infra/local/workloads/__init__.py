"""The controllers that keep workloads at their replica counts."""
