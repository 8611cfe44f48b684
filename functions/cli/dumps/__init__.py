"""What `kubectl get … -o json` printed, read as if the clusters stood before us; `reading` is the way in."""

from functions.cli.dumps.reading import DumpedCluster, read_dump, read_dumps

__all__ = ["DumpedCluster", "read_dump", "read_dumps"]
