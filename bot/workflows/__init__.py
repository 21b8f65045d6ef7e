"""What Mendbot does, in order: gather the facts, let `rules` decide, act once, record. One module a kind of work."""
