project = "my-project"
cluster = { name = "prod-north", location = "europe-north1" }
paused  = true
