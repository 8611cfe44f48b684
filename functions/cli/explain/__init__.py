"""`ebb explain`: all that is known of a node, a pod or a workload."""
