"""A fix run as a durable job, from its group to its pull request."""
