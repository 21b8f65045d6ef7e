"""The face on HTTP: it receives and shows. What is to be done becomes a job; nothing here touches GitHub or a tree."""
