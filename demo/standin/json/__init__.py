"""What GitHub's REST API and webhooks say of each thing."""
