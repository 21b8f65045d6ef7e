"""What Mendbot remembers: deliveries, runs and their events, candidates, reports. One database, one writer."""
