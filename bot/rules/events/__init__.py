"""From a webhook's JSON to one of a closed set of events."""
