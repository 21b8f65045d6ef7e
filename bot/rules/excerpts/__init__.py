"""The part of a log that shows people and agents a failure."""
