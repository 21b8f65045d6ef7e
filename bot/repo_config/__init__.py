"""A repository's own configuration (spec K): its keys, and how a text becomes a policy or the list of what is wrong.
Nothing here touches a file or the network; `bot.config` offers what others use."""
