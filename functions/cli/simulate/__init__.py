"""`ebb simulate`: days to come of a cluster in virtual time, by the autoscaler alone and with Ebb."""
