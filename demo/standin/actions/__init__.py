"""What can be done in the stand-in's world, and what follows from it."""
