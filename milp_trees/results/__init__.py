"""Results: answers of methods, certificates, and their tables and files."""
