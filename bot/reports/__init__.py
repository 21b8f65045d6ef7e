"""Every sentence that a person reads, as pure functions from a view such as `RunView` to text (architecture rule 10).

Process output is treated in this order: strip control characters, mask secrets, cut, fence. If secrets were masked
first, one that colour codes split would be missed."""
