mock_provider "kubernetes" {}

variables {
  planner = "planner@my-project.iam.gserviceaccount.com"
  drainer = "drainer@my-project.iam.gserviceaccount.com"
}

run "every_object_of_the_file_is_made" {
  command = plan

  assert {
    condition     = length(kubernetes_cluster_role_v1.roles) + length(kubernetes_cluster_role_binding_v1.bindings) == length(local.documents)
    error_message = "Every object of infra/rbac.yaml is made, and no other."
  }
  assert {
    condition = alltrue([
      for key, role in kubernetes_cluster_role_v1.roles : [
        for rule in role.rule : jsonencode([sort(rule.api_groups), sort(rule.resources), sort(rule.verbs)])
        ] == [
        for rule in local.objects[key].rules : jsonencode([sort(rule.apiGroups), sort(rule.resources), sort(rule.verbs)])
      ]
    ])
    error_message = "Every role has the file's rules."
  }
  assert {
    condition = toset([for binding in kubernetes_cluster_role_binding_v1.bindings : "${binding.role_ref[0].name} ${binding.subject[0].kind} ${binding.subject[0].name}"]) == toset([
      "ebb-planner User planner@my-project.iam.gserviceaccount.com",
      "ebb-drainer User drainer@my-project.iam.gserviceaccount.com",
    ])
    error_message = "Each function has its own role."
  }
}

run "an_identity_is_an_address" {
  command = plan

  variables {
    planner = "planner"
    drainer = ""
  }

  expect_failures = [var.planner, var.drainer]
}
