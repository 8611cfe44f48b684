"""What surrounds the `State` port: compare-and-set of the cluster's document, the drain's record, snapshots."""
