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

run "the_fence_stands_around_the_drainer" {
  command = plan

  assert {
    condition     = length(kubernetes_manifest.fences) + length(kubernetes_manifest.fence_bindings) == length(local.admission) && length(local.admission) == 6
    error_message = "Every object of infra/admission.yaml is made, and no other."
  }
  assert {
    condition = alltrue([
      for fence in kubernetes_manifest.fences :
      fence.manifest.spec.matchConditions[0].expression == "request.userInfo.username == 'drainer@my-project.iam.gserviceaccount.com'"
    ])
    error_message = "The fence stands around the drainer's identity alone."
  }
}

run "the_fence_may_be_left_to_kubectl" {
  command = plan

  variables {
    admission = false
  }

  assert {
    condition     = length(kubernetes_manifest.fences) + length(kubernetes_manifest.fence_bindings) == 0
    error_message = "Without `admission` the submodule makes the rights alone."
  }
}

run "no_optional_right_is_made_unasked" {
  command = plan

  assert {
    condition     = length(kubernetes_cluster_role_v1.options) + length(kubernetes_cluster_role_binding_v1.options) == 0
    error_message = "Who names no optional right gets none."
  }
}

run "an_optional_right_comes_with_its_fence" {
  command = plan

  variables {
    optional_rights = ["surge"]
  }

  assert {
    condition     = jsonencode([for role in kubernetes_cluster_role_v1.options : [for rule in role.rule : [rule.api_groups, rule.resources, rule.verbs]]]) == jsonencode([[[["apps"], ["deployments"], ["patch"]]]])
    error_message = "The right is to patch Deployments, and nothing else."
  }
  assert {
    condition     = toset([for binding in kubernetes_cluster_role_binding_v1.options : "${binding.role_ref[0].name} ${binding.subject[0].kind} ${binding.subject[0].name}"]) == toset(["ebb-drainer-surge User drainer@my-project.iam.gserviceaccount.com"])
    error_message = "The drainer alone has it."
  }
  assert {
    condition = alltrue([
      length(kubernetes_manifest.fences) == 4 && length(kubernetes_manifest.fence_bindings) == 4,
      kubernetes_manifest.fences["ValidatingAdmissionPolicy/ebb-drainer-surge"].manifest.spec.matchConditions[0].expression == "request.userInfo.username == 'drainer@my-project.iam.gserviceaccount.com'",
    ])
    error_message = "The fence of the right stands around the drainer."
  }
}

run "an_optional_right_without_its_fence_is_refused" {
  command = plan

  variables {
    admission       = false
    optional_rights = ["surge"]
  }

  expect_failures = [kubernetes_cluster_role_v1.options]
}

run "an_optional_right_that_is_none_is_refused" {
  command = plan

  variables {
    optional_rights = ["everything"]
  }

  expect_failures = [var.optional_rights]
}

run "an_identity_is_an_address" {
  command = plan

  variables {
    planner = "planner"
    drainer = ""
  }

  expect_failures = [var.planner, var.drainer]
}
