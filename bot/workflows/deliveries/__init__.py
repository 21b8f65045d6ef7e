"""From stored deliveries to decisions and what is done about them."""
