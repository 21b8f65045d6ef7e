"""What a run's comment, check runs, pull request and terminal lines say."""
