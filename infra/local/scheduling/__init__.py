"""Where a pod may run: the kube-scheduler's filters and a scoring, written here a second time on purpose."""
