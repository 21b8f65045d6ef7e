"""What came in and waits: deliveries, commands, candidates."""
