"""Which tests ran, what came of each, and whether the same ones ran after a change."""
