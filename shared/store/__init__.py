"""What surrounds the `State` port: compare-and-set of the cluster's document, the drain's record, snapshots.

Must not know which store stands behind the port.
"""
