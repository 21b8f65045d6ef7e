"""The schema's history, one module a step."""
