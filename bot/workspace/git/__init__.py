"""Git as a process: its environment, its objects, its trees."""
