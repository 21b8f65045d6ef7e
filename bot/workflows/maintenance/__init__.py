"""What is done now and then: sweeps, reconciliation, retention, catching up."""
