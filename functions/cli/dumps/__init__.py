"""What `kubectl get … -o json` printed, read as if the clusters stood before us; `reading` is the way in."""
