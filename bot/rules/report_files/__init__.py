"""Report files that checks write: JUnit XML and SARIF."""
