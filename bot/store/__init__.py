"""Mendbot's database: deliveries, runs and their events, candidates, reports, error history. It has one writer."""
