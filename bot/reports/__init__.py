"""Every sentence a person reads, as pure functions from a `RunView` to text (architecture rule 10).

Order matters for anything that came out of a process: `limits.strip_control`, then `redact`, then cut, then fence;
a secret that colour codes had split would otherwise be joined again after the mask had looked."""
