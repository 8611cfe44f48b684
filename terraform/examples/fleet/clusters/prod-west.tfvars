project = "my-project"
cluster = { name = "prod-west", location = "europe-west1" }
