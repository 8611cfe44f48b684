"""The ground the functions stand on: what Terraform reads, and the same ground on a laptop."""
