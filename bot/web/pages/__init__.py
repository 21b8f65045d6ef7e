"""The pages for people: rendered on the server, readable without JavaScript, with no request to another site."""
