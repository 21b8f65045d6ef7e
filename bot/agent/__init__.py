"""Everyone who can propose a change (a project's fixers, any command-line agent), and the planner that briefs them."""
