"""HTTP: receives deliveries and serves the API. Work becomes a job; nothing here touches GitHub or a working tree."""
