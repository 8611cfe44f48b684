"""The Kubernetes API in the core's words.

`cluster` implements the Cluster port; `client` carries its calls over the official client's connections, `access` and
`kubeconfig` open the way in; `wire`, `pod_objects` and their neighbours turn JSON into core types, that of a dump too
(`functions.cli.dumps`). No rule lives here: the core decides what a reading means for a node.
"""
