"""All that touches GitHub's REST API: who we are, how fast we may write, and the effects, each keyed so that it
happens once. Answers become our four errors here; nothing of GitHub's JSON travels further than this room."""
