"""What runs and pull request checks share: commands, setup, altered files, executed tests."""
