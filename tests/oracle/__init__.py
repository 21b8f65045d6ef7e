"""GitHub's own descriptions and recorded payloads as judges of what Mendbot and its stand-in say to each other."""
