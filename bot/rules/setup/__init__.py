"""What a project needs installed before its checks can run, and the shell commands that install it."""
