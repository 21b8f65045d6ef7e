"""What a newly installed repository gets: its first issue, and a configuration file to start from."""
