"""What `mendbot check` and `mendbot fix` say on a terminal."""
