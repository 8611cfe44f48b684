"""The Kubernetes API over the world: paths, lists in pages, patches, evictions and their answers."""
