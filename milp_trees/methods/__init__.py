"""What turns a problem into a result, and what every run shares."""
