"""What `make demo` plays, one scenario a file."""
