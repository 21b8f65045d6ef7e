"""The whole bot as a process of its own, against the stand-in; its traffic is held against GitHub's description."""
