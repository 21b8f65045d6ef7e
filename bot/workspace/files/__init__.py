"""Files and directories of untrusted trees, read, digested and removed with care."""
