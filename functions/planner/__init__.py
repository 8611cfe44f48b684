"""The planner: one tick in, one pass over the cluster; it selects and never touches the cluster."""
