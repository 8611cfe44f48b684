"""The policy's reference for people and editors: the page, the JSON Schema, the precedence of settings."""
